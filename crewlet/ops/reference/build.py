"""Builds docs/reference and the state tables inside other pages, or says which are stale."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from crewlet.ops.reference import (
    actions,
    commands,
    coverage,
    environment,
    events,
    health,
    rest,
)
from crewlet.ops.reference.pages import PAGES, STATES, Page, state_table

FOLDER: Final = "docs/reference"
MADE: Final = "<!-- Made by `manage.py docs build`; change the code it comes from instead. -->"
_BLOCK = re.compile(
    r"(?P<open><!-- states: (?P<name>[a-z_]+) -->\n).*?(?P<close><!-- /states -->)", re.DOTALL
)

OWN: Final[Mapping[str, Page]] = {
    "actions": Page(
        "Actions",
        "Every verb, the doors it has and what it takes. An agent seat needs the `tool` door and "
        "passes the rules; a person or a machine needs the grant and passes the rules. The "
        "operator at a terminal has every grant. A write may be repeated under its operation id: "
        "it lands once and is answered the same. The `mcp` door is declared and not served yet.",
        actions.body,
    ),
    "commands": Page(
        "Commands",
        "Run as `.venv/bin/python manage.py …` in the checkout. Every noun takes `--json` with "
        "each of its verbs. A refusal is told on standard error, and the exit code is not 0.",
        commands.body,
    ),
    "coverage": Page(
        "Requirements and their tests",
        "Requirements and the tests that are marked with their ids. An id that is missing here is "
        "held by no test, which says nothing about the code. `pytest --covers TURN-11` runs the "
        "tests of one.",
        coverage.body,
    ),
    "environment": Page(
        "Environment",
        "One module, `crewlet/environment.py`, reads the environment. All of it may be empty. A "
        "bad value is one line on standard error and exit code 2. An empty value counts as absent.",
        environment.body,
    ),
    "events": Page(
        "Events",
        "What is told: a row in the transaction of the fact, and a hint to whoever watches after "
        "its commit. `GET /api/v1/events` lists them. A type that no module names is reserved.",
        events.body,
    ),
    "health": Page(
        "Health",
        "`/health` answers 200 while the process lives; `/ready` answers 503 with a reason while "
        "requests should go elsewhere; `/metrics` is for a credential.",
        health.body,
    ),
    "rest": Page(
        "REST",
        "Besides these, every action whose doors include `rest` is `POST /api/v1/act/{action}` "
        "with its arguments as a JSON object ([actions](actions.md)). `GET /api/v1/schema` answers "
        "the whole as OpenAPI 3.1. Send `Authorization: Bearer …`, and with a write an "
        "`Idempotency-Key` of its own ([programs](../operator/programs.md)). An error is "
        '`{"error", "message", "detail", "request_id"}`.',
        rest.body,
    ),
    "states": Page(
        "States",
        "State machines, from the docstrings of the enums that hold them.",
        lambda: "\n\n".join(
            f"## {name.replace('_', ' ').capitalize()}\n\n{_sentence(name)}\n\n"
            f"{state_table(states)}"
            for name, states in STATES.items()
        ),
    ),
}


def build(root: Path) -> list[str]:
    """Writes what is stale under `root` and returns its paths."""
    stale = list(_stale(root))
    for path, text in stale:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return [path for path, _ in stale]


def stale(root: Path) -> list[str]:
    """Returns the paths whose text is not what the code says."""
    return [path for path, _ in _stale(root)]


def _stale(root: Path) -> Iterator[tuple[str, str]]:
    for path, text in (*_pages(), *_with_blocks(root)):
        file = root / path
        if not file.is_file() or file.read_text(encoding="utf-8") != text:
            yield path, text


def _pages() -> Iterator[tuple[str, str]]:
    pages = {**OWN, **dict(PAGES.items())}
    for stem, page in sorted(pages.items()):
        yield f"{FOLDER}/{stem}.md", f"{MADE}\n\n# {page.title}\n\n{page.about}\n\n{page.body()}\n"


def _with_blocks(root: Path) -> Iterator[tuple[str, str]]:
    """Yields every hand-written page with its state tables as they must be.

    Raises KeyError for a table that nobody registered.
    """
    for file in sorted((root / "docs").rglob("*.md")):
        path = file.relative_to(root).as_posix()
        text = file.read_text(encoding="utf-8")
        if path.startswith(f"{FOLDER}/") or not _BLOCK.search(text):
            continue
        yield (
            path,
            _BLOCK.sub(
                lambda found: (
                    f"{found['open']}{state_table(STATES[found['name']])}\n{found['close']}"
                ),
                text,
            ),
        )


def _sentence(name: str) -> str:
    return (STATES[name].__doc__ or "").strip().splitlines()[0]
