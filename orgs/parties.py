"""Finds who is meant, by any name of a seat: exact, then by a part of it, then by likeness.

Nothing is ever guessed: one match is an answer, several are a list to choose from.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from django.db.models import Q
from rapidfuzz import fuzz

from orgs.chart import ChartSeat
from orgs.document.names import derive_handle
from orgs.document.rules import normal_email
from orgs.epochs import Snapshot
from orgs.models.seats import Seat

_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s]+")

NEAR = 78.0
"""The least likeness (0-100) at which a misspelt name is still offered."""


@dataclass(frozen=True, slots=True)
class Match:
    """Who was found: one seat, several to choose from, or none; `how` says by which rule."""

    status: Literal["one", "many", "none"]
    seats: tuple[ChartSeat, ...]
    how: Literal["exact", "former", "partial", "near", "none"]

    @property
    def seat(self) -> ChartSeat | None:
        """The one seat that is meant, or None."""
        return self.seats[0] if self.status == "one" else None


def find_party(snapshot: Snapshot, text: str) -> Match:
    """Finds the seat that `text` means; case and a leading @ do not matter."""
    wanted = text.strip().removeprefix("@").strip()
    seats = tuple(snapshot.chart.walk())
    if not wanted:
        return Match("none", (), "none")
    direct = snapshot.chart.seats.get(wanted.lower())
    if direct is not None:
        return Match("one", (direct,), "exact")
    by_id = _by_id(snapshot, wanted)
    if by_id is not None:
        return Match("one", (by_id,), "exact")
    exact = [seat for seat in seats if wanted.casefold() in _names(seat)]
    if exact:
        return _found(exact, "exact")
    if _ADDRESS.fullmatch(wanted):
        return _by_email(snapshot, wanted)
    former = snapshot.former.get(wanted.lower())
    if former is not None:
        return Match("one", (snapshot.chart.seats[former],), "former")
    partial = _filtered(seats, lambda name: wanted.casefold() in name)
    if partial:
        return _found(partial, "partial")
    near = _filtered(seats, lambda name: fuzz.WRatio(wanted.casefold(), name) >= NEAR)
    return _found(near, "near") if near else Match("none", (), "none")


def _found(seats: Iterable[ChartSeat], how: Literal["exact", "partial", "near"]) -> Match:
    found = tuple(seats)
    return Match("one" if len(found) == 1 else "many", found, how)


def _filtered(seats: Iterable[ChartSeat], like: Callable[[str], bool]) -> list[ChartSeat]:
    return [seat for seat in seats if like(seat.name.casefold()) or like(seat.handle)]


def _by_id(snapshot: Snapshot, wanted: str) -> ChartSeat | None:
    """A seat's own id or its agent id, which keeps the name the company began with."""
    try:
        asked = UUID(wanted)
    except ValueError:
        return None
    rows = Seat.objects.filter(Q(id=asked) | Q(agent_id=asked), removed_at=None)
    found = rows.values_list("id", flat=True).first()
    handle = snapshot.handles.get(found) if found else None
    return snapshot.chart.seats[handle] if handle else None


def _names(seat: ChartSeat) -> frozenset[str]:
    """Every exact name of a seat, folded; an outside identity counts, a reference does not."""
    names = {seat.handle, seat.name.casefold(), derive_handle(seat.name)}
    contact = seat.role.contact if seat.role else None
    if contact is not None:
        outside = contact.model_dump(exclude_none=True).values()
        names.update(value.casefold() for value in outside if not value.startswith("${"))
    return frozenset(names - {""})


def _by_email(snapshot: Snapshot, wanted: str) -> Match:
    """A plus tag that names a seat wins over whose address it is. A document in which two seats
    declare one address is refused, so at most one seat has it; an outsider's address is nobody's
    here, however like it is to a name.
    """
    tag = wanted.rpartition("@")[0].partition("+")[2].lower()
    if tag in snapshot.chart.seats:
        return Match("one", (snapshot.chart.seats[tag],), "exact")
    address = normal_email(wanted)
    for seat in snapshot.chart.walk():
        email = seat.role.email if seat.role else None
        if email is not None and normal_email(email) == address:
            return Match("one", (seat,), "exact")
    return Match("none", (), "none")
