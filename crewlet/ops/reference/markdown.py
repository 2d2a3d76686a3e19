"""Markdown as the reference pages write it: tables, code, cells that cannot break their table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Gives a table; a line break in a cell becomes a space, a bar is escaped."""
    lines = [_row(heads), "|" + "---|" * len(heads)]
    lines += [_row(row) for row in rows]
    return "\n".join(lines)


def code(text: str) -> str:
    """Gives `text` as code, or nothing for nothing."""
    return f"`{text}`" if text else ""


def codes(words: Iterable[str]) -> str:
    """Gives words as code, with commas between them."""
    return ", ".join(code(word) for word in words)


def anchor(heading: str) -> str:
    """Gives the fragment under which a heading of letters, digits, blanks and dashes is found."""
    kept = "".join(sign for sign in heading.lower() if sign.isalnum() or sign in " -_")
    return kept.replace(" ", "-")


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(" ".join(cell.split()).replace("|", r"\|") for cell in cells) + " |"
