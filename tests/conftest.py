"""Rings by folder, and what every test stands on: own database, own Redis, nothing from outside."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from pytest_django import DjangoDbBlocker

from tests.support import postgres, redis, servers
from tests.support.processes import Processes
from tests.support.processes import processes as running_processes

# A loaded machine is no failed example: nothing here is judged by the clock.
hypothesis.settings.register_profile("crewlet", deadline=None)
hypothesis.settings.load_profile("crewlet")

TESTS = Path(__file__).parent
RINGS = frozenset({"unit", "rules", "races", "crash", "journals", "e2e", "browser"})
# Other threads and processes must see the rows, so these rings commit.
COMMITTING = frozenset({"races", "crash", "e2e", "browser"})
NO_SERVERS = frozenset({"unit", "rules"})


class NoMigrations:
    """Stands in for MIGRATION_MODULES: every app's tables come from its models."""

    def __contains__(self, _app: str) -> bool:
        return True

    def __getitem__(self, _app: str) -> None:
        return None


def ring_of(path: Path) -> str:
    """Returns the first folder below tests/ that holds `path`."""
    return path.relative_to(TESTS).parts[0]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks each test by its ring; a committing ring has a real database without asking."""
    for item in items:
        ring = ring_of(item.path)
        if ring in RINGS:
            item.add_marker(ring)
        if ring in COMMITTING and item.get_closest_marker("django_db") is None:
            item.add_marker(pytest.mark.django_db(transaction=True))


@pytest.fixture(scope="session")
def server_folder() -> Path:
    """The temporary folder of this session's servers."""
    return Path(os.environ[servers.FOLDER])


@pytest.fixture(scope="session")
def django_db_setup(
    django_test_environment: None,
    django_db_blocker: DjangoDbBlocker,
    django_db_use_migrations: bool,
    server_folder: Path,
) -> Iterator[None]:
    """A clone of the migrated template for this process; the first process makes the template."""
    from django.conf import settings
    from django.db import connections

    from crewlet.ops.pools import close_pools

    if not django_db_use_migrations:
        settings.MIGRATION_MODULES = NoMigrations()
    template = postgres.template_name(migrations=django_db_use_migrations)
    database = postgres.database_name(servers.worker_name())
    connection = connections["default"]
    with django_db_blocker.unblock(), postgres.template_lock(server_folder) as maintenance:
        if not postgres.exists(maintenance, template):
            half_made = f"{template}_new"
            postgres.create(maintenance, half_made)
            connection.settings_dict["NAME"] = half_made
            _make_tables(with_guards=not django_db_use_migrations)
            close_pools()
            # Renamed when whole: a process that dies half-way leaves no template behind.
            maintenance.execute(f'ALTER DATABASE "{half_made}" RENAME TO "{template}"')
        postgres.create(maintenance, database, template)
        connection.settings_dict["NAME"] = database
    ops = type(connection.ops)
    ops.sql_flush = lambda _ops, _style, tables, **_how: postgres.emptying(tables)  # type: ignore[method-assign]
    yield
    with django_db_blocker.unblock():
        close_pools()


def _make_tables(*, with_guards: bool) -> None:
    from django.core.management import call_command
    from django.db import connection

    call_command("migrate", verbosity=0, interactive=False, run_syncdb=True)
    if with_guards:
        with connection.cursor() as cursor:
            for statement in postgres.guard_statements():
                cursor.execute(statement)


@pytest.fixture(autouse=True)
def empty_redis(request: pytest.FixtureRequest) -> None:
    """Every test outside the pure rings starts with an empty Redis of its own."""
    if ring_of(request.path) not in NO_SERVERS:
        redis.flush(os.environ["REDIS_URL"])


@pytest.fixture(autouse=True)
def clear_local_caches() -> Iterator[None]:
    """Context bound to log lines and to the process ends with its test."""
    import structlog

    yield
    structlog.contextvars.clear_contextvars()


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """Starts real processes for one test and kills them at its end."""
    with running_processes(tmp_path) as started:
        yield started
