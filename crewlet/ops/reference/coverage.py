"""The page of requirements: which test holds which, by the marker that tests carry.

`@pytest.mark.covers("TURN-11")` stands at a test, or in `pytestmark` for all tests of a file.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator

from crewlet.environment import BASE_DIR
from crewlet.ops.reference.markdown import table

FAMILIES = ("ORG", "RUN", "TURN", "TRK", "SUP", "UI", "KNOW", "INT", "PEER", "ADD")
MARKER = "pytest.mark.covers"
_ID = re.compile(rf"(?:{'|'.join(FAMILIES)})-[1-9]\d*")


class NotAnId(ValueError):
    """A marker names something that is no requirement."""


def body() -> str:
    """Gives the table of requirement ids with the tests that hold them."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted((BASE_DIR / "tests").rglob("test_*.py")):
        where = path.relative_to(BASE_DIR).as_posix()
        for ident, test in marked_in(path.read_text(encoding="utf-8")):
            if not _ID.fullmatch(ident):
                raise NotAnId(f"{where} covers {ident!r}; an id reads like {FAMILIES[0]}-1")
            found[ident].add(f"[{where}{test and '::' + test}](../../{where})")
    return table(
        ("requirement", "tests"),
        [(ident, "<br>".join(sorted(found[ident]))) for ident in sorted(found, key=_order)],
    )


def marked_in(text: str) -> Iterator[tuple[str, str]]:
    """Yields the ids that a test module covers, each with its test or "" for the whole module."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            for decorator in node.decorator_list:
                yield from ((ident, node.name) for ident in _ids(decorator))
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "pytestmark":
            for marker in ast.walk(statement.value):
                yield from ((ident, "") for ident in _ids(marker))


def _ids(node: ast.AST) -> list[str]:
    """Returns what a call of the marker names; any other node names nothing."""
    if not isinstance(node, ast.Call) or ast.unparse(node.func) != MARKER:
        return []
    return [ast.literal_eval(argument) for argument in node.args]


def _order(ident: str) -> tuple[int, int]:
    family, number = ident.split("-")
    return FAMILIES.index(family), int(number)
