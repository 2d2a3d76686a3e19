"""The page of requirements: which test holds which, by the ids that tests name.

An id such as TURN-11 stands in a docstring or a comment; in a test function it belongs to that
test, above all of them to the whole file.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator

from crewlet.environment import BASE_DIR
from crewlet.ops.reference.markdown import table

FAMILIES = ("ORG", "RUN", "TURN", "TRK", "SUP", "UI", "KNOW", "INT", "PEER", "ADD")
_ID = re.compile(rf"\b(?:{'|'.join(FAMILIES)})-\d+\b")


def body() -> str:
    """Gives the table of requirement ids with the tests that name them."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in sorted((BASE_DIR / "tests").rglob("*.py")):
        for ident, test in named_in(path.read_text(encoding="utf-8")):
            where = path.relative_to(BASE_DIR).as_posix()
            found[ident].add(f"[{where}{test and '::' + test}](../../{where})")
    return table(
        ("requirement", "tests"),
        [(ident, "<br>".join(sorted(found[ident]))) for ident in sorted(found, key=_order)],
    )


def named_in(text: str) -> Iterator[tuple[str, str]]:
    """Yields the ids that a test module names, each with its test or "" for the whole module."""
    tree = ast.parse(text)
    tests = [
        (node.lineno, node.end_lineno or node.lineno, node.name)
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and node.name.startswith("test_")
    ]
    for line, words in (*_docstrings(tree), *_comments(text)):
        for ident in _ID.findall(words):
            yield ident, next((name for a, b, name in tests if a <= line <= b), "")


def _docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            words = ast.get_docstring(node)
            if words:
                yield node.body[0].lineno, words


def _comments(text: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


def _order(ident: str) -> tuple[int, int]:
    family, number = ident.split("-")
    return FAMILIES.index(family), int(number)
