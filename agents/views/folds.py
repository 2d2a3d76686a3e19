"""Runs of quiet rows as one line that opens. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import groupby
from typing import Any

Row = Mapping[str, Any]

LEAST = 2


def folded(rows: Iterable[Row], quiet: Callable[[Row], bool]) -> list[dict[str, Any]]:
    """Returns lines in the order of the rows: `{"row": row}`, or `{"fold": rows}` for a quiet run.

    A quiet row that stands alone stays a row: a line that says "one" hides what it could say.
    """
    lines: list[dict[str, Any]] = []
    for hushed, run in groupby(rows, quiet):
        together = list(run)
        if hushed and len(together) >= LEAST:
            lines.append({"fold": together})
        else:
            lines += [{"row": row} for row in together]
    return lines
