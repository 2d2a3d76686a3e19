"""The bones of a company, taken from plain data however faulty the rest of it is.

The chart is derived from an outline, so a document with a bad model name still shows who would
lead whom, and every cross rule runs beside every shape rule: all problems at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from orgs.document.names import derive_handle, derive_unit_key, fold_key, is_handle, is_unit_key
from orgs.document.problems import Segments


@dataclass(frozen=True, slots=True)
class SeatOutline:
    """A seat where it is written. `handle` is "" when none can be told."""

    path: Segments
    handle: str
    handle_written: bool
    name: str
    kind: str
    written_in: int | None
    unit_ref: str | None
    manages: tuple[tuple[Segments, str], ...]
    project: str | None
    goal: str
    backstory: str
    responsibilities: tuple[str, ...]
    behavioral_guidelines: tuple[str, ...]
    email: str | None
    contact: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class UnitOutline:
    """A unit where it is written; `parent` is the index of the unit around it."""

    path: Segments
    key: str
    id_written: bool
    name: str
    type: str
    purpose: str
    goals: tuple[str, ...]
    parent: int | None
    lead_ref: str | None
    channel: str | None
    project: str | None
    space: str | None

    @property
    def folded(self) -> str:
        return fold_key(self.key)


@dataclass(frozen=True, slots=True)
class Outline:
    """Seats and units in walk order: root seats first, then each unit before its children."""

    name: str | None
    seats: tuple[SeatOutline, ...]
    units: tuple[UnitOutline, ...]

    def seat_around(self, segments: Segments) -> SeatOutline | None:
        """Gives the seat whose place holds `segments`."""
        return next((s for s in self.seats if segments[: len(s.path)] == s.path), None)

    def unit_around(self, segments: Segments) -> UnitOutline | None:
        """Gives the innermost unit whose place holds `segments`."""
        holding = [u for u in self.units if segments[: len(u.path)] == u.path]
        return max(holding, key=lambda u: len(u.path), default=None)


def outline_of(data: Any) -> Outline:
    """Reads the outline; whatever does not have the expected shape is left out."""
    root = data if isinstance(data, dict) else {}
    seats: list[SeatOutline] = []
    units: list[UnitOutline] = []
    seats.extend(_seats(root, (), None))
    for path, item in _items(root, "units", ()):
        _unit(item, path, None, seats, units)
    name = root.get("name")
    return Outline(name if isinstance(name, str) else None, tuple(seats), tuple(units))


def _unit(
    item: dict[str, Any],
    path: Segments,
    parent: int | None,
    seats: list[SeatOutline],
    units: list[UnitOutline],
) -> None:
    written, name = item.get("id"), _text(item, "name")
    key = written if isinstance(written, str) else derive_unit_key(name)
    index = len(units)
    units.append(
        UnitOutline(
            path=path,
            key=key if is_unit_key(key) else "",
            id_written="id" in item,
            name=name,
            type=_text(item, "type") or "team",
            purpose=_text(item, "purpose"),
            goals=_texts(item, "goals"),
            parent=parent,
            lead_ref=_text(item, "lead") or None,
            channel=_text(item, "channel") or None,
            project=_text(item, "project") or None,
            space=_text(item, "space") or None,
        )
    )
    seats.extend(_seats(item, path, index))
    for inner_path, inner in _items(item, "children", path):
        _unit(inner, inner_path, index, seats, units)


def _seats(holder: dict[str, Any], path: Segments, unit: int | None) -> Iterator[SeatOutline]:
    for place, item in _items(holder, "roles", path):
        written, name = item.get("handle"), _text(item, "name")
        handle = written if isinstance(written, str) else derive_handle(name)
        manages = item.get("manages")
        listed = enumerate(manages if isinstance(manages, list) else ())
        contact = item.get("contact")
        yield SeatOutline(
            path=place,
            handle=handle if is_handle(handle) else "",
            handle_written="handle" in item,
            name=name,
            kind="human" if item.get("kind") == "human" else "agent",
            written_in=unit,
            unit_ref=_text(item, "unit") or None,
            manages=tuple(
                ((*place, "manages", i), ref) for i, ref in listed if isinstance(ref, str)
            ),
            project=_text(item, "project") or None,
            goal=_text(item, "goal"),
            backstory=_text(item, "backstory"),
            responsibilities=_texts(item, "responsibilities"),
            behavioral_guidelines=_texts(item, "behavioral_guidelines"),
            email=_text(item, "email") or None,
            contact=tuple(
                (str(kind), value.strip())
                for kind, value in (contact.items() if isinstance(contact, dict) else ())
                if isinstance(value, str)
            ),
        )


def _items(
    holder: dict[str, Any], key: str, path: Segments
) -> Iterator[tuple[Segments, dict[str, Any]]]:
    found = holder.get(key)
    for index, item in enumerate(found if isinstance(found, list) else ()):
        if isinstance(item, dict):
            yield (*path, key, index), item


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _texts(item: dict[str, Any], key: str) -> tuple[str, ...]:
    value = item.get(key)
    return tuple(v for v in value if isinstance(v, str)) if isinstance(value, list) else ()
