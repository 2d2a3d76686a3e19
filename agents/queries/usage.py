"""What was used, from the charge rows: by phase, model, provider entry, seat and unit.

A day is a company day: the charge row carries the one that its clock showed, so a day of 23 or 25
hours holds what was charged in it. A group whose calls all went unobserved has no figure (None).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from django.db import connection

from crewlet.kernel.errors import CrewletError, ErrorCode

if TYPE_CHECKING:
    from orgs.epochs import Snapshot

MAX_DAYS: Final = 90
DEFAULT_DAYS: Final = 30
HISTORY_DAYS: Final = 181
TOP: Final = 4
PHASES: Final = ("execute", "review", "workers", "auxiliary")
GROUPS: Final = ("phase", "model", "provider", "seat", "unit")
BUCKETS: Final = ("day", "week")
OTHER: Final = "(other)"  # no handle and no unit is spelled so
NOBODY: Final = ""


@dataclass(frozen=True, slots=True)
class Span:
    """Company days, the first and the last both counted; `floor` is the first day on record."""

    first: date
    last: date
    floor: date

    @property
    def days(self) -> int:
        """How many days it counts."""
        return (self.last - self.first).days + 1

    def before(self) -> Span | None:
        """Returns as many days right before it; None where they reach below the floor."""
        first = self.first - timedelta(days=self.days)
        if first < self.floor:
            return None
        return Span(first, self.first - timedelta(days=1), self.floor)

    def as_json(self) -> dict[str, Any]:
        """Returns the span as every door shows it."""
        return {"since": self.first, "until": self.last, "days": self.days}


@dataclass(slots=True)
class Sums:
    """The tokens of some calls. `known` counts the calls whose tokens were told or estimated."""

    tokens_in: int = 0
    tokens_out: int = 0
    cache_read: int | None = None
    calls: int = 0
    known: int = 0
    estimated: int = 0
    refused: int = 0

    def add(self, cell: Sums) -> None:
        """Adds other calls."""
        self.tokens_in += cell.tokens_in
        self.tokens_out += cell.tokens_out
        if cell.cache_read is not None:
            self.cache_read = (self.cache_read or 0) + cell.cache_read
        self.calls += cell.calls
        self.known += cell.known
        self.estimated += cell.estimated
        self.refused += cell.refused

    @property
    def tokens(self) -> int | None:
        """In and out together; None while calls were made and nobody knows what one used."""
        return None if self.calls and not self.known else self.tokens_in + self.tokens_out

    def as_json(self) -> dict[str, Any]:
        """Returns the sums as every door shows them; what is unknown is null."""
        blind = self.tokens is None
        return {
            "tokens": self.tokens,
            "tokens_in": None if blind else self.tokens_in,
            "tokens_out": None if blind else self.tokens_out,
            "cache_read": self.cache_read,
            "calls": self.calls,
            "unknown_calls": self.calls - self.known,
            "estimated_calls": self.estimated,
            "refused_calls": self.refused,
        }


@dataclass(frozen=True, slots=True)
class Cell:
    """The calls of one seat, phase, model and provider entry, of one day where days are asked."""

    day: date | None
    seat_id: UUID | None
    phase: str
    model: str
    provider: str
    sums: Sums


def span_of(
    snapshot: Snapshot,
    now: datetime,
    *,
    days: int | None = None,
    since: date | None = None,
    until: date | None = None,
) -> Span:
    """Returns the days that are asked for; refuses what no row can answer, naming the remedy."""
    today = now.astimezone(snapshot.timezone).date()
    floor = today - timedelta(days=HISTORY_DAYS - 1)
    if days is not None and (since or until):
        raise _bad("days", "Ask for days, or for since and until, not for both.")
    if days is not None and not 1 <= days <= MAX_DAYS:
        raise _bad("days", f"days is a whole number from 1 to {MAX_DAYS}.")
    last = until or today
    first = since or last - timedelta(days=(days or DEFAULT_DAYS) - 1)
    if first < floor:
        name = "since" if since else "until"
        raise _bad(name, f"Usage is kept for {HISTORY_DAYS} days. The first day is {floor}.")
    if last > today:
        raise _bad("until", f"{last} has not come yet. The last day is {today}.")
    if first > last:
        raise _bad("since", f"since ({first}) is after until ({last}).")
    if (last - first).days >= MAX_DAYS:
        earliest = last - timedelta(days=MAX_DAYS - 1)
        raise _bad("since", f"At most {MAX_DAYS} days at once: start on {earliest} or later.")
    return Span(first, last, floor)


def breakdown(snapshot: Snapshot, span: Span, *, previous: bool = False) -> dict[str, Any]:
    """Returns the totals of a span and its splits, most tokens first. Two statements.

    `previous` adds the totals of as many days before; None where those are not on record.
    """
    before = span.before() if previous else None
    cells = _cells(before.first if before else span.first, span.last, split=span.first)
    mine = [cell for cell in cells if cell.day is None]
    answer: dict[str, Any] = {"span": span.as_json(), "total": _total(mine).as_json()}
    for group in GROUPS:
        answer[f"by_{group}"] = _split(mine, group, snapshot)
    turns = {
        snapshot.handles.get(seat, str(seat)) if seat else NOBODY: count
        for seat, count in _turns(span)
    }
    for row in answer["by_seat"]:
        count = turns.get(row["key"], 0)
        row["turns"] = count
        row["per_turn"] = round(row["tokens"] / count) if count and row["tokens"] else None
    if previous:
        old = [cell for cell in cells if cell.day is not None]
        answer["previous"] = before and {**before.as_json(), "total": _total(old).as_json()}
    return answer


def series(snapshot: Snapshot, span: Span, *, group: str, bucket: str = "day") -> dict[str, Any]:
    """Returns every bucket of a span, split into at most four bands and `other`. One statement."""
    cells = _cells(span.first, span.last, split=None)
    key_of, label_of = _naming(group, snapshot)
    bands = _bands(cells, group, key_of, label_of)
    shown = {band["key"] for band in bands}
    sums: dict[tuple[date, str], Sums] = defaultdict(Sums)
    for cell in cells:
        key = key_of(cell)
        place = _start(cell.day or span.first, bucket, span)
        sums[place, key if key in shown else OTHER].add(cell.sums)
    starts = sorted(
        {_start(span.first + timedelta(days=n), bucket, span) for n in range(span.days)}
    )
    ends = [*(start - timedelta(days=1) for start in starts[1:]), span.last]
    return {
        "group": group,
        "bucket": bucket,
        "tz": snapshot.timezone.key,
        "bands": bands,
        "buckets": [
            _bucket(start, end, {key: sums.get((start, key), Sums()) for key in _keys(bands)})
            for start, end in zip(starts, ends, strict=True)
        ],
        "horizon": {"days": HISTORY_DAYS, "floor": span.floor},
    }


def _bucket(start: date, end: date, found: Mapping[str, Sums]) -> dict[str, Any]:
    whole = Sums()
    for sums in found.values():
        whole.add(sums)
    return {
        "start": start,
        "end": end,
        "values": {key: sums.tokens for key, sums in found.items()},
        "tokens": whole.tokens,
        "calls": whole.calls,
        "unknown_calls": whole.calls - whole.known,
    }


def _keys(bands: list[dict[str, Any]]) -> list[str]:
    return [band["key"] for band in bands]


def _start(day: date, bucket: str, span: Span) -> date:
    if bucket == "day":
        return day
    return max(day - timedelta(days=day.weekday()), span.first)


def _bands(
    cells: list[Cell], group: str, key_of: Callable[[Cell], str], label_of: Callable[[str], str]
) -> list[dict[str, Any]]:
    ranked = _ranked(cells, key_of)
    if group == "phase":
        found = dict(ranked)
        ranked = [(name, found.get(name, Sums())) for name in PHASES]
    bands = [
        {"key": key, "label": label_of(key), "tokens": sums.tokens, "calls": sums.calls}
        for key, sums in ranked[:TOP]
    ]
    rest = Sums()
    for _, sums in ranked[TOP:]:
        rest.add(sums)
    if rest.calls:
        words = f"{len(ranked) - TOP} others" if len(ranked) > TOP + 1 else "1 other"
        bands.append({"key": OTHER, "label": words, "tokens": rest.tokens, "calls": rest.calls})
    return bands


def _split(cells: list[Cell], group: str, snapshot: Snapshot) -> list[dict[str, Any]]:
    key_of, label_of = _naming(group, snapshot)
    whole = _total(cells).tokens
    rows = []
    for key, sums in _ranked(cells, key_of):
        share = round(sums.tokens / whole, 4) if whole and sums.tokens is not None else None
        rows.append({"key": key, "label": label_of(key), "share": share, **sums.as_json()})
    return rows


def _ranked(cells: Iterable[Cell], key_of: Callable[[Cell], str]) -> list[tuple[str, Sums]]:
    sums: dict[str, Sums] = defaultdict(Sums)
    for cell in cells:
        sums[key_of(cell)].add(cell.sums)
    return sorted(sums.items(), key=lambda entry: (-(entry[1].tokens or 0), entry[0]))


def _total(cells: Iterable[Cell]) -> Sums:
    whole = Sums()
    for cell in cells:
        whole.add(cell.sums)
    return whole


def _naming(group: str, snapshot: Snapshot) -> tuple[Callable[[Cell], str], Callable[[str], str]]:
    chart, handles = snapshot.chart, snapshot.handles

    def handle(cell: Cell) -> str:
        if cell.seat_id is None:
            return NOBODY
        return handles.get(cell.seat_id, str(cell.seat_id))

    def unit(cell: Cell) -> str:
        seat = chart.seats.get(handle(cell))
        return (seat.unit or NOBODY) if seat else NOBODY

    def seat_name(key: str) -> str:
        if key in chart.seats:
            return chart.seats[key].name
        return "A seat that is gone" if key else "No seat"

    def unit_name(key: str) -> str:
        return chart.units[key].name if key in chart.units else "No unit"

    def said(key: str) -> str:
        return key or "Unknown"

    return {
        "phase": (lambda cell: cell.phase, str.capitalize),
        "model": (lambda cell: cell.model, said),
        "provider": (lambda cell: cell.provider, said),
        "seat": (handle, seat_name),
        "unit": (unit, unit_name),
    }[group]


_CELLS = """
SELECT {day}, seat_id,
    CASE WHEN stage <> 'turn' OR purpose <> '' THEN 'auxiliary'
         WHEN phase IN ('execute', 'review') THEN phase
         WHEN phase IN ('worker', 'workers') THEN 'workers' ELSE 'auxiliary' END,
    model, provider_entry, sum(tokens_in)::bigint, sum(tokens_out)::bigint,
    sum(cache_read)::bigint, count(*), count(*) FILTER (WHERE NOT unobserved),
    count(*) FILTER (WHERE estimated), count(*) FILTER (WHERE refused)
FROM agents_llmcall WHERE day >= %(first)s AND day <= %(last)s GROUP BY 1, 2, 3, 4, 5
"""
_BY_DAY = _CELLS.format(day="day")
_BY_HALF = _CELLS.format(day="CASE WHEN day < %(split)s THEN %(first)s::date ELSE NULL END")


def _cells(first: date, last: date, *, split: date | None) -> list[Cell]:
    """Reads the cells of each day; with `split`, of all days before it and of all from it on.

    Of a split, the cells before carry the first day and those from it on carry none.
    """
    with connection.cursor() as cursor:
        asked = {"first": first, "last": last, "split": split}
        cursor.execute(_BY_DAY if split is None else _BY_HALF, asked)
        return [
            Cell(day, seat, phase, model, provider, Sums(*sums))
            for day, seat, phase, model, provider, *sums in cursor.fetchall()
        ]


_TURNS = """
SELECT seat_id, count(DISTINCT turn_id) FROM agents_llmcall
WHERE day >= %s AND day <= %s AND turn_id IS NOT NULL GROUP BY seat_id
"""


def _turns(span: Span) -> list[tuple[UUID | None, int]]:
    with connection.cursor() as cursor:
        cursor.execute(_TURNS, (span.first, span.last))
        return [(seat, count) for seat, count in cursor.fetchall()]


def _bad(field: str, words: str) -> CrewletError:
    return CrewletError(words, code=ErrorCode.INVALID_QUERY, field=field)
