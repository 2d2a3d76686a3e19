"""Tables: brought up to date with a count, refused when they are of a newer version."""

from __future__ import annotations

import pytest
from django.core.management import CommandError, call_command
from django.db.migrations.recorder import MigrationRecorder

from crewlet.ops import migrating
from crewlet.ops.embedded.errors import ServerProblem
from crewlet.ops.management.commands import migrations as command


class Shown:
    """Keeps the lines of the progress."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def __call__(self, line: str, *, last: bool) -> None:
        self.lines.append(line)


@pytest.mark.django_db
def test_tables_of_a_newer_version_are_refused_by_name(django_db_use_migrations: bool) -> None:
    if not django_db_use_migrations:
        pytest.skip("made without migrations")
    from django.db import connection

    MigrationRecorder(connection).record_applied("kernel", "9999_from_the_future")
    with pytest.raises(ServerProblem, match=r"newer Crewlet: it has kernel\.9999_from_the_future"):
        migrating.migrate(Shown())


@pytest.mark.django_db
def test_nothing_to_do_shows_nothing(django_db_use_migrations: bool) -> None:
    if not django_db_use_migrations:
        pytest.skip("made without migrations")
    shown = Shown()
    assert migrating.migrate(shown) == 0
    assert migrating.unapplied() == 0
    assert shown.lines == []


def test_each_applied_migration_is_a_step_of_the_count() -> None:
    shown = Shown()
    counter = migrating._Counter(shown, 2)
    for text in ("Operations to perform:", "  Applying kernel.0001_initial...", " OK\n"):
        counter.write(text)
    counter.write("  Applying orgs.0001_initial...")
    assert shown.lines == ["tables 1/2 kernel.0001_initial", "tables 2/2 orgs.0001_initial"]


def test_a_model_without_a_migration_fails_the_check_by_name(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(command, "missing_operations", lambda: ["orgs: Add field x to seat"])
    with pytest.raises(CommandError, match=r"makemigrations:\n  orgs: Add field x to seat"):
        call_command("migrations", "check")
