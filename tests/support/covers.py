"""`pytest --covers TURN-11` runs the tests that hold a requirement."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--covers",
        action="append",
        default=[],
        metavar="ID",
        help="run only the tests that hold this requirement; may be repeated",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    wanted = set(config.getoption("--covers"))
    if not wanted:
        return
    kept = [item for item in items if wanted & covered_by(item)]
    left = [item for item in items if item not in kept]
    config.hook.pytest_deselected(items=left)
    items[:] = kept


def covered_by(item: pytest.Item) -> set[str]:
    """Returns the ids of the requirements that a test holds."""
    return {ident for marker in item.iter_markers("covers") for ident in marker.args}
