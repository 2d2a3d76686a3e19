"""The source tree as the rules see it: files, syntax trees, templates."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
APPS = ("crewlet", "orgs", "agents", "tracker", "integrations")


@dataclass(frozen=True)
class Source:
    """One Python file: its path from the root, its text, its syntax tree."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def module(self) -> str:
        """The dotted name."""
        parts = self.path.with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    def at(self, node: ast.AST) -> str:
        """Returns "path:line" of a node."""
        return f"{self.path}:{getattr(node, 'lineno', 0)}"


@cache
def product() -> tuple[Source, ...]:
    """Returns every product module but the migrations."""
    return tuple(_read(path) for app in APPS for path in _python(ROOT / app))


@cache
def suite() -> tuple[Source, ...]:
    """Returns every module of the tests."""
    return tuple(_read(path) for path in _python(ROOT / "tests"))


@cache
def templates() -> tuple[tuple[Path, str], ...]:
    """Returns every HTML template with its text."""
    found = sorted((ROOT / "templates").rglob("*.html"))
    return tuple((path.relative_to(ROOT), path.read_text(encoding="utf-8")) for path in found)


def _python(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*.py")):
        if "migrations" not in path.parts:
            yield path


def _read(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    return Source(path.relative_to(ROOT), text, ast.parse(text, filename=str(path)))


def tell(problems: list[str], remedy: str) -> None:
    """Fails with every problem on a line of its own, and what to do about them."""
    if problems:
        listed = "\n".join(f"  {problem}" for problem in problems)
        raise AssertionError(f"\n{listed}\n{remedy}")
