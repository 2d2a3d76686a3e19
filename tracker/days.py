"""What the query grammar says of dates. Pure: the present day is an argument.

A test is kept as it was written (`lt:today`, `range:sow..eow`, `next7`), so that a saved query
means the same sentence tomorrow; it becomes days when it is asked.
"""

from __future__ import annotations

import re
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

from crewlet.kernel.errors import Invalid
from crewlet.kernel.nearest import nearest

NAMED = (
    "overdue", "earlier", "next7", "last7", "thisweek", "thismonth", "lastmonth", "null",
    "not_null",
)  # fmt: skip
ONLY_DUE = frozenset({"overdue", "earlier"})
COMPARISONS = ("lt", "lte", "gt", "gte")
DAY_WORDS = ("today", "tomorrow", "yesterday", "sow", "eow", "som", "eom")
FORMS = (
    "a day (2026-03-31, today, tomorrow, yesterday, sow, eow, som, eom, +3d, -2w), lt: lte: gt: "
    f"gte: before one, range:DAY..DAY, or {', '.join(NAMED)}"
)
_RELATIVE = re.compile(r"([+-])(\d{1,4})([dw])")
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_WEEK = 7


@dataclass(frozen=True, slots=True)
class DateTest:
    """A test of a date: `op` is `on`, a comparison, `range`, or one of `NAMED`."""

    op: str
    first: str = ""
    last: str = ""

    def __str__(self) -> str:
        if self.op == "on":
            return self.first
        if self.op == "range":
            return f"range:{self.first}..{self.last}"
        return f"{self.op}:{self.first}" if self.first else self.op


@dataclass(frozen=True, slots=True)
class Span:
    """The days from `first` to `last`, both in it; None is open."""

    first: date | None = None
    last: date | None = None


def read_date_test(key: str, value: str) -> DateTest:
    """Returns the test that a value is; raises `Invalid` naming the key and the forms there are."""
    word = value.strip().casefold()
    if word in NAMED:
        if word in ONLY_DUE and key != "due":
            raise Invalid(f"{key} knows no '{word}'; only due does.", field=key)
        return DateTest(word)
    op, colon, rest = word.partition(":")
    if not colon:
        return DateTest("on", _day_word(key, word, value))
    if op in COMPARISONS:
        return DateTest(op, _day_word(key, rest, value))
    first, dots, last = rest.partition("..")
    if op == "range" and dots:
        return DateTest("range", _day_word(key, first, value), _day_word(key, last, value))
    raise _unreadable(key, value)


def _day_word(key: str, word: str, value: str) -> str:
    if word in DAY_WORDS or _RELATIVE.fullmatch(word):
        return word
    if _ISO_DAY.fullmatch(word):
        try:
            return date.fromisoformat(word).isoformat()
        except ValueError:
            raise _unreadable(key, value) from None
    raise _unreadable(key, value)


def _unreadable(key: str, value: str) -> Invalid:
    hint = nearest(value, (*NAMED, *DAY_WORDS))
    meant = f" Did you mean {hint}?" if hint else ""
    return Invalid(f"{key}: '{value}' is not a test of a date.{meant} Write {FORMS}.", field=key)


def day(word: str, today: date) -> date:
    """Returns the day that a day word means on a given day."""
    relative = _RELATIVE.fullmatch(word)
    if relative is not None:
        amount = int(relative[2]) * (_WEEK if relative[3] == "w" else 1)
        return today + timedelta(days=amount if relative[1] == "+" else -amount)
    monday = today - timedelta(days=today.weekday())
    named = {
        "today": today,
        "tomorrow": today + timedelta(days=1),
        "yesterday": today - timedelta(days=1),
        "sow": monday,
        "eow": monday + timedelta(days=_WEEK - 1),
        "som": today.replace(day=1),
        "eom": _end_of_month(today),
    }
    return named.get(word) or date.fromisoformat(word)


def span(test: DateTest, today: date) -> Span:
    """Returns the days that a test admits; `null` and `not_null` have none."""
    one = timedelta(days=1)
    if test.op in {"on", *COMPARISONS}:
        at = day(test.first, today)
        return {
            "on": Span(at, at),
            "lt": Span(None, at - one),
            "lte": Span(None, at),
            "gt": Span(at + one, None),
            "gte": Span(at, None),
        }[test.op]
    if test.op == "range":
        return Span(day(test.first, today), day(test.last, today))
    last_month = today.replace(day=1) - one
    return {
        "overdue": Span(None, today - one),
        "earlier": Span(None, today - one),
        "next7": Span(today, today + timedelta(days=_WEEK)),
        "last7": Span(today - timedelta(days=_WEEK), today),
        "thisweek": Span(day("sow", today), day("eow", today)),
        "thismonth": Span(day("som", today), day("eom", today)),
        "lastmonth": Span(last_month.replace(day=1), last_month),
    }.get(test.op, Span())


def _end_of_month(today: date) -> date:
    return today.replace(day=monthrange(today.year, today.month)[1])
