"""The org chart, derived: who sits where, who leads, who manages whom. Pure.

Everything is computed once from the document's outline. References that lead nowhere are treated
as absent and kept as typed in `dangling`; cycles are reported and never followed twice.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from orgs.document.names import derive_handle, fold_key
from orgs.document.outline import Outline, SeatOutline, UnitOutline, outline_of
from orgs.document.problems import Segments

if TYPE_CHECKING:
    from orgs.document.company import CompanyDocument, Role, UnitSection

EXPLICIT: Final = "explicit"
THROUGH_LEAD: Final = "lead"
THROUGH_UNIT: Final = "unit"


@dataclass(frozen=True, slots=True)
class ChartSeat:
    """A seat in its place; `manages` and `managers` are direct, in walk order of the listers."""

    handle: str
    name: str
    kind: str
    unit: str | None
    goal: str
    backstory: str
    responsibilities: tuple[str, ...]
    behavioral_guidelines: tuple[str, ...]
    project: str | None
    path: Segments
    declared_at_root: bool
    manages: tuple[str, ...] = ()
    managers: tuple[str, ...] = ()
    role: Role | None = None

    @property
    def is_agent(self) -> bool:
        return self.kind == "agent"


@dataclass(frozen=True, slots=True)
class ChartUnit:
    """A unit in its place; `lead` is the effective one, `members` sit directly in it."""

    key: str
    name: str
    type: str
    purpose: str
    goals: tuple[str, ...]
    parent: str | None
    children: tuple[str, ...]
    members: tuple[str, ...]
    lead: str | None
    lead_inherited: bool
    project: str | None
    space: str | None
    channel: str | None
    path: Segments


@dataclass(frozen=True, slots=True)
class ProjectOwner:
    """Whose home a project is: a unit (or a seat) and the handle that leads the project."""

    key: str
    unit: str | None
    seat: str | None
    lead: str | None


@dataclass(frozen=True, slots=True)
class Dangling:
    """A reference that names nobody, with its place and what it was meant for."""

    segments: Segments
    field: str
    reference: str


class Chart:
    """The derived company. Handles and unit keys are the only addresses it knows."""

    def __init__(
        self,
        seats: Mapping[str, ChartSeat],
        units: Mapping[str, ChartUnit],
        listings: Mapping[tuple[str, str], str],
        dangling: tuple[Dangling, ...],
    ) -> None:
        self.seats: Mapping[str, ChartSeat] = MappingProxyType(dict(seats))
        self.units: Mapping[str, ChartUnit] = MappingProxyType(dict(units))
        self.listings: Mapping[tuple[str, str], str] = MappingProxyType(dict(listings))
        self.dangling = dangling
        self.cycles = _cycles({h: s.manages for h, s in self.seats.items()})

    @classmethod
    def of(cls, document: CompanyDocument) -> Chart:
        """Derives the chart of a valid document; every seat carries its `role`."""
        data = document.model_dump(mode="json", exclude_unset=True)
        chart = derive(outline_of(data))
        seats = {h: replace(s, role=role_at(document, s.path)) for h, s in chart.seats.items()}
        return cls(seats, chart.units, chart.listings, chart.dangling)

    def walk(self) -> Iterator[ChartSeat]:
        """Yields the seats in walk order: root seats first, then unit by unit."""
        return iter(self.seats.values())

    def walk_units(self) -> Iterator[ChartUnit]:
        """Yields the units, each before its children."""
        return iter(self.units.values())

    def seat_named(self, text: str) -> str | None:
        """Gives the handle that a written reference means: the handle itself or a seat's name."""
        if text in self.seats:
            return text
        folded = derive_handle(text)
        return folded if folded in self.seats else None

    def reports(self, handle: str) -> tuple[str, ...]:
        """Gives whom a seat manages directly."""
        return self.seats[handle].manages

    def managers(self, handle: str) -> tuple[str, ...]:
        """Gives who manages a seat directly, the primary manager first."""
        return self.seats[handle].managers

    def primary_manager(self, handle: str) -> str | None:
        """Gives the one manager who answers for a seat.

        The first in walk order of those who name the seat or lead it; those who reach it only
        by naming a whole unit come after, so that a chief who lists a division does not become
        everybody's first manager.
        """
        return next(iter(self.seats[handle].managers), None)

    def is_above(self, above: str, below: str) -> bool:
        """Says whether `above` manages `below`, directly or through others; never itself."""
        return above != below and below in self.below(above)

    def below(self, handle: str) -> frozenset[str]:
        """Gives everybody a seat manages, directly or through others."""
        found: set[str] = set()
        waiting = deque(self.seats[handle].manages if handle in self.seats else ())
        while waiting:
            name = waiting.popleft()
            if name not in found:
                found.add(name)
                waiting.extend(self.seats[name].manages)
        return frozenset(found - {handle})

    def unit_of(self, handle: str) -> ChartUnit | None:
        """Gives the unit a seat sits in; None at the root."""
        key = self.seats[handle].unit
        return self.units[key] if key is not None else None

    def ancestors(self, key: str) -> tuple[str, ...]:
        """Gives the units around a unit, the outermost first."""
        chain: list[str] = []
        parent = self.units[key].parent
        while parent is not None:
            chain.append(parent)
            parent = self.units[parent].parent
        return tuple(reversed(chain))

    def effective_lead(self, key: str) -> str | None:
        """Gives who leads a unit: its own lead, else the nearest one above."""
        return self.units[key].lead

    def leads(self, handle: str) -> tuple[str, ...]:
        """Gives the units a seat leads, inherited ones included."""
        return tuple(unit.key for unit in self.units.values() if unit.lead == handle)

    def projects(self) -> Mapping[str, ProjectOwner]:
        """Gives every project key with its owner: the first unit that names it, else a seat."""
        found: dict[str, ProjectOwner] = {}
        for unit in self.units.values():
            if unit.project:
                owner = ProjectOwner(unit.project, unit.key, None, unit.lead)
                found.setdefault(unit.project, owner)
        for seat in self.seats.values():
            if seat.project:
                owner = ProjectOwner(seat.project, None, seat.handle, seat.handle)
                found.setdefault(seat.project, owner)
        return MappingProxyType(found)

    def home_project(self, handle: str) -> str | None:
        """Gives where a seat's unrouted work goes: its own project, else its units' nearest."""
        seat = self.seats[handle]
        if seat.project or seat.unit is None:
            return seat.project
        around = (*self.ancestors(seat.unit), seat.unit)
        return next((p for key in reversed(around) if (p := self.units[key].project)), None)

    def chain_hash(self, handle: str) -> str:
        """Gives a digest of where a seat stands: moving changes it, relabelling does not."""
        seat = self.seats[handle]
        around = () if seat.unit is None else (*self.ancestors(seat.unit), seat.unit)
        text = "\n".join(["company", *(fold_key(key) for key in around)])
        return hashlib.sha256(text.encode()).hexdigest()


def role_at(document: CompanyDocument, path: Segments) -> Role:
    """Gives the role written at a seat's path."""
    return _at(document, path)  # type: ignore[return-value]


def unit_at(document: CompanyDocument, path: Segments) -> UnitSection:
    """Gives the unit written at a unit's path."""
    return _at(document, path)  # type: ignore[return-value]


def _at(document: CompanyDocument, path: Segments) -> object:
    found: object = document
    for segment in path:
        found = found[segment] if isinstance(segment, int) else getattr(found, segment)  # type: ignore[index]
    return found


def derive(outline: Outline) -> Chart:
    """Derives the chart of an outline. Of two seats with one handle the first is taken."""
    return _Derivation(outline).chart()


class _Derivation:
    """One pass over an outline: places, then leads, then who manages whom."""

    def __init__(self, outline: Outline) -> None:
        self.dangling: list[Dangling] = []
        self.seats: dict[str, SeatOutline] = {}
        for seat in outline.seats:
            if seat.handle:
                self.seats.setdefault(seat.handle, seat)
        self.listed_units = outline.units
        self.units: dict[str, UnitOutline] = {}
        self.by_fold: dict[str, str] = {}
        for unit in outline.units:
            if unit.key and unit.folded not in self.by_fold:
                self.by_fold[unit.folded] = unit.key
                self.units[unit.key] = unit
        self.parents = {key: self._key_at(unit.parent) for key, unit in self.units.items()}
        self.children: dict[str, list[str]] = {key: [] for key in self.units}
        for key, around in self.parents.items():
            if around is not None:
                self.children[around].append(key)
        self.home = {handle: self._home(seat) for handle, seat in self.seats.items()}
        self.members: dict[str, list[str]] = {key: [] for key in self.units}
        for handle, home in self.home.items():
            if home is not None:
                self.members[home].append(handle)
        self.leads = {key: self._own_lead(unit) for key, unit in self.units.items()}

    def chart(self) -> Chart:
        effective = {key: self._effective(key) for key in self.units}
        listings = self._explicit_listings()
        listings.update(self._lead_listings(effective, listings))
        order = {handle: index for index, handle in enumerate(self.seats)}
        manages: dict[str, list[str]] = {handle: [] for handle in self.seats}
        managers: dict[str, list[tuple[bool, int, str]]] = {handle: [] for handle in self.seats}
        for (lister, member), via in listings.items():
            manages[lister].append(member)
            managers[member].append((via == THROUGH_UNIT, order[lister], lister))
        seats = {
            handle: self._seat(
                seat, tuple(manages[handle]), tuple(name for *_, name in sorted(managers[handle]))
            )
            for handle, seat in self.seats.items()
        }
        units = {key: self._unit(unit, effective[key]) for key, unit in self.units.items()}
        return Chart(seats, units, listings, tuple(self.dangling))

    def _seat(
        self, seat: SeatOutline, manages: tuple[str, ...], managers: tuple[str, ...]
    ) -> ChartSeat:
        return ChartSeat(
            handle=seat.handle,
            name=seat.name,
            kind=seat.kind,
            unit=self.home[seat.handle],
            goal=seat.goal,
            backstory=seat.backstory,
            responsibilities=seat.responsibilities,
            behavioral_guidelines=seat.behavioral_guidelines,
            project=seat.project,
            path=seat.path,
            declared_at_root=seat.written_in is None,
            manages=manages,
            managers=managers,
        )

    def _unit(self, unit: UnitOutline, lead: str | None) -> ChartUnit:
        return ChartUnit(
            key=unit.key,
            name=unit.name,
            type=unit.type,
            purpose=unit.purpose,
            goals=unit.goals,
            parent=self.parents[unit.key],
            children=tuple(self.children[unit.key]),
            members=tuple(self.members[unit.key]),
            lead=lead,
            lead_inherited=lead is not None and self.leads[unit.key] is None,
            project=unit.project,
            space=unit.space,
            channel=self._channel(unit.key),
            path=unit.path,
        )

    def _key_at(self, index: int | None) -> str | None:
        """The key of a unit of the outline; a double or keyless one answers with its parent's."""
        while index is not None:
            unit = self.listed_units[index]
            if self.units.get(unit.key) is unit:
                return unit.key
            index = unit.parent
        return None

    def _home(self, seat: SeatOutline) -> str | None:
        if seat.written_in is not None:
            return self._key_at(seat.written_in)
        if seat.unit_ref is None:
            return None
        key = self.by_fold.get(fold_key(seat.unit_ref))
        if key is None:
            self.dangling.append(Dangling((*seat.path, "unit"), "unit", seat.unit_ref))
        return key

    def _handle(self, reference: str) -> str | None:
        if reference in self.seats:
            return reference
        folded = derive_handle(reference)
        return folded if folded in self.seats else None

    def _own_lead(self, unit: UnitOutline) -> str | None:
        if unit.lead_ref is None:
            return None
        handle = self._handle(unit.lead_ref)
        if handle is None:
            self.dangling.append(Dangling((*unit.path, "lead"), "lead", unit.lead_ref))
        return handle

    def _around(self, key: str) -> Iterator[str]:
        """Yields a unit, then the units around it, the nearest first."""
        here: str | None = key
        while here is not None:
            yield here
            here = self.parents[here]

    def _effective(self, key: str) -> str | None:
        return next((lead for k in self._around(key) if (lead := self.leads[k])), None)

    def _channel(self, key: str) -> str | None:
        return next((c for k in self._around(key) if (c := self.units[k].channel)), None)

    def _subtree(self, key: str) -> Iterator[str]:
        yield from self.members[key]
        for child in self.children[key]:
            yield from self._subtree(child)

    def _explicit_listings(self) -> dict[tuple[str, str], str]:
        found: dict[tuple[str, str], str] = {}
        for lister, seat in self.seats.items():
            for place, reference in seat.manages:
                via, members = self._expanded(reference)
                if via is None:
                    self.dangling.append(Dangling(place, "manages", reference))
                for member in members:
                    known = found.get((lister, member))
                    if member != lister and (known is None or via == EXPLICIT):
                        found[lister, member] = via or EXPLICIT
        return found

    def _expanded(self, reference: str) -> tuple[str | None, Iterable[str]]:
        """A seat's own address wins over a unit of the same word."""
        if reference in self.seats:
            return EXPLICIT, (reference,)
        key = self.by_fold.get(fold_key(reference))
        if key is not None:
            return THROUGH_UNIT, tuple(self._subtree(key))
        handle = self._handle(reference)
        return (EXPLICIT, (handle,)) if handle is not None else (None, ())

    def _lead_listings(
        self, effective: Mapping[str, str | None], listed: Mapping[tuple[str, str], str]
    ) -> dict[tuple[str, str], str]:
        """A lead manages the direct members that no other direct member manages.

        Never a member who manages the lead: that would close a circle of two.
        """
        found: dict[tuple[str, str], str] = {}
        for key, lead in effective.items():
            if lead is None:
                continue
            members = self.members[key]
            for member in members:
                shielded = any((other, member) in listed for other in members if other != lead)
                if member == lead or shielded or (member, lead) in listed:
                    continue
                if (lead, member) not in listed and (member, lead) not in found:
                    found[lead, member] = THROUGH_LEAD
        return found


def _cycles(manages: Mapping[str, tuple[str, ...]]) -> tuple[tuple[str, ...], ...]:
    """Finds the groups of seats that manage each other around a circle, in walk order.

    A seat is in a circle when it can reach itself; two are in the same one when each reaches
    the other. Quadratic, and a company has hundreds of seats, not millions.
    """
    reach = {handle: _reach(handle, manages) for handle in manages}
    groups: list[tuple[str, ...]] = []
    placed: set[str] = set()
    for handle in manages:
        if handle in placed or handle not in reach[handle]:
            continue
        group = tuple(h for h in manages if h in reach[handle] and handle in reach[h])
        placed.update(group)
        groups.append(group)
    return tuple(groups)


def _reach(start: str, manages: Mapping[str, tuple[str, ...]]) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(manages[start])
    while waiting:
        handle = waiting.pop()
        if handle not in found:
            found.add(handle)
            waiting.extend(manages[handle])
    return frozenset(found)
