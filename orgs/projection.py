"""Brings the Unit and Seat rows in line with a chart, inside the transaction that activates it.

Rows are matched by identity: by address first (a live row, else one that was removed: a handle
that returns gets its memory back), then as the same seat under a former name. They are updated in
place and never deleted; a primary key stands for one seat for ever.

Lock: the caller holds the Company row, so nobody else projects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from crewlet.kernel.errors import Conflict
from crewlet.kernel.ids import new_id
from orgs.chart import Chart, ChartSeat, ChartUnit
from orgs.document.identity import agent_id
from orgs.document.names import fold_key
from orgs.document.rules import normal_email
from orgs.models.people import Person
from orgs.models.seats import Seat, SeatKind, Unit

MAILBOX_KEPT = timedelta(hours=24)
"""How long the mail of a removed agent seat waits for its return (ORG-18)."""


@dataclass(frozen=True, slots=True)
class Projected:
    """What became of the rows: seats by handle, and who came, went or changed address."""

    seat_ids: Mapping[str, UUID]
    added: tuple[str, ...]
    removed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    returned: tuple[str, ...]


def project(
    chart: Chart,
    *,
    company: str,
    at: datetime,
    before: Chart | None,
    derived: frozenset[str] = frozenset(),
) -> Projected:
    """Brings rows in line and says what changed.

    `company` is the name the company began with; `derived` holds the handles that were made from
    names instead of written: only those may be an old seat whose name was corrected. Raises
    `Conflict` when a seat that a person holds would vanish or become an agent's.
    """
    units = _match_units(chart)
    seats, renamed = _match_seats(chart, before, derived)
    kept = {row.id for row in seats.values()}
    gone = [row for row in Seat.objects.filter(removed_at=None) if row.id not in kept]
    _refuse_held(chart, seats, gone)
    _retire(gone, units.values(), at)
    rows = _Rows(chart, units, seats)
    returned = tuple(handle for handle, row in seats.items() if row.removed_at is not None)
    added = tuple(handle for handle, row in seats.items() if row._state.adding)
    for position, seat in enumerate(chart.walk()):
        _fill_seat(rows, seat, position, at)
    _claim_agent_ids(seats, company)
    for position, unit in enumerate(chart.walk_units()):
        _fill_unit(rows, unit, position)
    _store(units.values(), seats.values())
    return Projected(
        seat_ids={handle: row.id for handle, row in seats.items()},
        added=added,
        removed=tuple(row.handle for row in gone),
        renamed=renamed,
        returned=returned,
    )


def _match_units(chart: Chart) -> dict[str, Unit]:
    rows = list(Unit.objects.order_by("removed_at"))
    live = {fold_key(row.key): row for row in rows if row.removed_at is None}
    removed = {fold_key(row.key): row for row in rows if row.removed_at is not None}
    wanted = {fold_key(key) for key in chart.units}
    vanished = [row for folded, row in live.items() if folded not in wanted]
    matched: dict[str, Unit] = {}
    for unit in chart.walk_units():
        folded = fold_key(unit.key)
        row = live.get(folded) or removed.get(folded)
        if row is None:
            same = [other for other in vanished if other.name == unit.name]
            row = same[0] if len(same) == 1 else None
            if row is not None:
                vanished.remove(row)
        matched[unit.key] = row or Unit(id=new_id(), origin_key=unit.key)
    return matched


def _match_seats(
    chart: Chart, before: Chart | None, derived: frozenset[str]
) -> tuple[dict[str, Seat], tuple[tuple[str, str], ...]]:
    rows = list(Seat.objects.order_by("removed_at"))
    live = {row.handle: row for row in rows if row.removed_at is None}
    removed = {row.handle: row for row in rows if row.removed_at is not None}
    vanished = {handle: row for handle, row in live.items() if handle not in chart.seats}
    matched: dict[str, Seat] = {}
    renamed: list[tuple[str, str]] = []
    for seat in chart.walk():
        row = live.get(seat.handle) or removed.get(seat.handle)
        if row is None and before is not None:
            old = _former_self(seat, before, vanished, corrected=seat.handle in derived)
            if old is not None:
                row = vanished.pop(old)
                renamed.append((old, seat.handle))
        matched[seat.handle] = row or Seat(id=new_id(), origin_handle=seat.handle)
    return matched, tuple(renamed)


def _former_self(
    seat: ChartSeat, before: Chart, vanished: Mapping[str, Seat], *, corrected: bool
) -> str | None:
    """The one vanished seat that this newcomer was: the same name in the same unit under another
    handle, or, where the handle follows the name, the same description under a corrected name."""
    gone = [before.seats[h] for h in vanished if h in before.seats]
    peers = [other for other in gone if (other.kind, other.unit) == (seat.kind, seat.unit)]
    same = [other for other in peers if other.name == seat.name]
    if not same and corrected:
        described = _description(seat)
        same = [other for other in peers if any(described) and _description(other) == described]
    return same[0].handle if len(same) == 1 else None


def _description(seat: ChartSeat) -> tuple[object, ...]:
    return (seat.goal, seat.backstory, seat.responsibilities, seat.behavioral_guidelines)


def _refuse_held(chart: Chart, seats: Mapping[str, Seat], gone: Iterable[Seat]) -> None:
    """ORG-100: a person is moved or let go before the seat they hold."""
    retyped = [
        row
        for handle, row in seats.items()
        if row.kind == SeatKind.HUMAN and chart.seats[handle].kind != SeatKind.HUMAN
    ]
    held = Person.objects.filter(seat__in=[row.id for row in (*gone, *retyped)])
    person = held.select_related("seat").order_by("login").first()
    if person is not None and person.seat is not None:
        raise Conflict(
            f"{person.login} holds the seat {person.seat.handle}: unbind them before the seat is "
            "removed or given to an agent.",
            reason="seat_held",
            seat=person.seat.handle,
            holder=person.login,
        )


def _retire(gone: Iterable[Seat], kept_units: Iterable[Unit], at: datetime) -> None:
    """Takes vanished rows out of the live ones first, so that their addresses are free."""
    for row in gone:
        row.removed_at = at
        if row.kind == SeatKind.AGENT:
            row.mailbox_retire_at = at + MAILBOX_KEPT
        row.save(update_fields=["removed_at", "mailbox_retire_at"])
    kept = [row.id for row in kept_units]
    Unit.objects.filter(removed_at=None).exclude(id__in=kept).update(removed_at=at)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The chart and the rows it is written to."""

    chart: Chart
    units: Mapping[str, Unit]
    seats: Mapping[str, Seat]


def _fill_seat(rows: _Rows, seat: ChartSeat, position: int, at: datetime) -> None:
    row = rows.seats[seat.handle]
    was_agent = row.kind == SeatKind.AGENT and row.removed_at is None
    row.handle, row.name, row.kind = seat.handle, seat.name, seat.kind
    row.unit_id = rows.units[seat.unit].id if seat.unit else None
    row.declared_at_root, row.position = seat.declared_at_root, position
    row.email_norm = normal_email(seat.role.email) if seat.role and seat.role.email else ""
    manager = rows.chart.primary_manager(seat.handle)
    row.primary_manager_id = rows.seats[manager].id if manager else None
    row.chain_hash, row.removed_at = rows.chart.chain_hash(seat.handle), None
    if seat.is_agent:
        row.mailbox_retire_at = None
    elif was_agent:
        row.mailbox_retire_at = at + MAILBOX_KEPT


def _fill_unit(rows: _Rows, unit: ChartUnit, position: int) -> None:
    row = rows.units[unit.key]
    row.key, row.name, row.type = unit.key, unit.name, unit.type
    row.parent_id = rows.units[unit.parent].id if unit.parent else None
    row.position = position
    row.lead_handle = unit.lead if unit.lead and not unit.lead_inherited else ""
    row.effective_lead_id = rows.seats[unit.lead].id if unit.lead else None
    row.channel, row.project = unit.channel or "", unit.project or ""
    row.space, row.removed_at = unit.space or "", None


def _claim_agent_ids(seats: Mapping[str, Seat], company: str) -> None:
    """Gives agents their id once. An address that a renamed seat began with is spoken for: its
    newcomer is somebody else and gets the next id of that address."""
    taken = set(Seat.objects.exclude(agent_id=None).values_list("agent_id", flat=True))
    for row in seats.values():
        if row.kind != SeatKind.AGENT or row.agent_id is not None:
            continue
        number, found = 1, agent_id(company, row.origin_handle)
        while found in taken:
            number += 1
            found = agent_id(company, f"{row.origin_handle}#{number}")
        row.agent_id = found
        taken.add(found)


_UNIT_FIELDS = (
    "key", "name", "type", "parent", "position", "lead_handle", "effective_lead", "channel",
    "project", "space", "removed_at",
)  # fmt: skip
_SEAT_FIELDS = (
    "handle", "agent_id", "name", "kind", "unit", "declared_at_root", "position", "email_norm",
    "primary_manager", "chain_hash", "removed_at", "mailbox_retire_at",
)  # fmt: skip


def _store(units: Iterable[Unit], seats: Iterable[Seat]) -> None:
    """Foreign keys are checked at commit, so rows that point at each other go in either order."""
    listed_units, listed_seats = list(units), list(seats)
    Unit.objects.bulk_create([row for row in listed_units if row._state.adding])
    Seat.objects.bulk_create([row for row in listed_seats if row._state.adding])
    Unit.objects.bulk_update(listed_units, _UNIT_FIELDS)
    Seat.objects.bulk_update(listed_seats, _SEAT_FIELDS)
