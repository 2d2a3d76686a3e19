"""One web process for all end-to-end tests of a worker: it keeps no state, so tests may share it.

Workers hold leases and are started by each test for itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes import Process
from tests.support.processes import processes as running_processes

OPERATOR = "the-operators-token-of-the-tests"


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    """What this process remembers of one company is gone before the next."""
    from orgs import epochs

    epochs.forget()
    yield
    epochs.forget()


@pytest.fixture(scope="package")
def shared_web(
    django_db_setup: None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Process]:
    """The web process."""
    with running_processes(tmp_path_factory.mktemp("web")) as started:
        yield started.start_web(CREWLET_API_TOKEN_OPERATOR=OPERATOR)


@pytest.fixture
def web(shared_web: Process) -> Process:
    """The web process, alive."""
    assert not shared_web.ended, shared_web.output
    return shared_web
