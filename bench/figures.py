"""Numbers of a run: spreads, ratios, percentiles, and the tables that show them. Pure."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

NOTHING = "-"


@dataclass(frozen=True, slots=True)
class Spread:
    """The smallest, the middle and the largest of some values."""

    least: float
    middle: float
    most: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Spread:
        """Returns the spread of values; raises ValueError when there are none."""
        known = sorted(values)
        if not known:
            raise ValueError("Nothing was measured, so there is no spread to show.")
        return cls(known[0], median(known), known[-1])

    def show(self, digits: int = 1) -> str:
        """Returns "min/median/max"."""
        return "/".join(f"{value:.{digits}f}" for value in (self.least, self.middle, self.most))

    def as_json(self) -> dict[str, float]:
        """Returns it as the JSON report keeps it."""
        return {
            "min": round(self.least, 3),
            "median": round(self.middle, 3),
            "max": round(self.most, 3),
        }


def percentile(values: Sequence[float], part: float) -> float:
    """Returns the value that `part` (0..1] of all values do not exceed: the nearest rank.

    Raises ValueError without values: a percentile of nothing would read as a very good one.
    """
    if not values:
        raise ValueError("Nothing was measured, so there is no percentile to show.")
    ordered = sorted(values)
    return ordered[max(0, math.ceil(part * len(ordered)) - 1)]


def ideal_per_second(in_flight: int, calls: int, latency: float) -> float:
    """Returns turns a second when only the model takes time: `latency` seconds a call."""
    return in_flight / (calls * latency)


@dataclass(frozen=True, slots=True)
class Repeat:
    """A statement that one transaction ran more than once."""

    times: int
    statement: str


def most_repeated(transactions: Iterable[Sequence[str]]) -> Repeat:
    """Returns the statement that any single transaction ran most often.

    A query in a loop shows here as a number that grows with the data; what each transaction does
    once (the proof of the lease) does not count up over a turn.
    """
    found = Repeat(0, "")
    for statements in transactions:
        for text, times in Counter(squeezed(sql) for sql in statements).items():
            if times > found.times:
                found = Repeat(times, text)
    return found


def squeezed(sql: str) -> str:
    """Returns a statement on one line."""
    return " ".join(sql.split())


@dataclass(frozen=True, slots=True)
class Aim:
    """One goal and what was measured: `bound` is the largest good value, or the smallest."""

    name: str
    measured: float
    bound: float
    unit: str
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the measured value keeps the bound."""
        return self.measured >= self.bound if self.at_least else self.measured <= self.bound

    def show(self) -> str:
        """Returns one line, whose first word says whether the aim was met."""
        word, sign = ("met   " if self.met else "MISSED"), (">=" if self.at_least else "<=")
        return f"{word}  {self.name}: {self.measured:.3g} {self.unit} (aim {sign} {self.bound:g})"

    def as_json(self) -> dict[str, Any]:
        """Returns it as the JSON report keeps it."""
        return {
            "name": self.name,
            "measured": round(self.measured, 3),
            "aim": self.bound,
            "direction": "at least" if self.at_least else "at most",
            "unit": self.unit,
            "met": self.met,
        }


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Returns an aligned table; the first column is words, the others are numbers."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(head))]
    shown = [
        "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width)
            for at, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
    shown.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(shown)
