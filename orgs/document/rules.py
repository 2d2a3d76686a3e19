"""Rules that compare two places of a document. They run on the outline and the plain data, so
they speak even when another part of the document is broken."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from orgs.document.company import CHAIN_PHASES
from orgs.document.dialect import data_at
from orgs.document.names import (
    ADDRESS_MAX,
    RESERVED_HANDLES,
    derive_handle,
    derive_unit_key,
    fold_key,
)
from orgs.document.outline import Outline, SeatOutline
from orgs.document.problems import LineMap, Problem, ProblemKind, Segments
from orgs.document.variables import is_reference

HUMAN_REFUSES: Final = (
    "behavioral_guidelines", "project", "space", "token_budget",
    "llm", "llm_review", "llm_subagent", "llm_auxiliary", "llm_judge",
    "llm_sandbox", "workers", "learning_enabled", "schedules", "sandbox", "placement",
    "integrations", "mcp_env", "approvals",
)  # fmt: skip
"""What only a running agent has: a person is told so for each one, by name."""

AGENT_REFUSES: Final = ("contact", "availability")


def cross_problems(data: Any, outline: Outline, lines: LineMap) -> Iterator[Problem]:
    """Yields every problem between places, without lines, in no particular order."""
    yield from _handles(outline, lines)
    yield from _unit_keys(outline, lines)
    yield from _nested_units(outline)
    yield from _kinds(data, outline)
    yield from _chains(data, outline)
    yield from _identities(outline, lines)
    yield from _providers(data)


def _problem(segments: Segments, kind: ProblemKind, message: str) -> Problem:
    return Problem(segments, kind, message)


def _derived_problem(path: Segments, name: str) -> Problem | None:
    derived = derive_handle(name)
    place = (*path, "name")
    if not derived:
        return _problem(
            place,
            ProblemKind.INVALID,
            "No handle can be made of this name: give the seat a `handle` of a-z, 0-9 and hyphens.",
        )
    if len(derived) > ADDRESS_MAX:
        return _problem(
            place,
            ProblemKind.OUT_OF_RANGE,
            f"The handle made of this name has {len(derived)} characters, "
            f"{ADDRESS_MAX} are allowed: give the seat a shorter `handle`.",
        )
    if derived in RESERVED_HANDLES:
        return _problem(
            place,
            ProblemKind.INVALID,
            "The handle made of this name means something in queries: give the seat a `handle`.",
        )
    return None


def _handles(outline: Outline, lines: LineMap) -> Iterator[Problem]:
    first: dict[str, SeatOutline] = {}
    for seat in outline.seats:
        if not seat.handle_written and seat.name.strip():
            problem = _derived_problem(seat.path, seat.name)
            if problem is not None:
                yield problem
                continue
        if not seat.handle:
            continue
        earlier = first.setdefault(seat.handle, seat)
        if earlier is not seat:
            yield _problem(
                (*seat.path, "handle" if seat.handle_written else "name"),
                ProblemKind.CONFLICT,
                f"Another seat has this handle already (line {lines.of(earlier.path)}): "
                "give this one its own `handle`.",
            )


def _unit_keys(outline: Outline, lines: LineMap) -> Iterator[Problem]:
    first: dict[str, Segments] = {}
    for unit in outline.units:
        place = (*unit.path, "id" if unit.id_written else "name")
        if not unit.key:
            if not unit.id_written and unit.name.strip():
                yield _unit_key_problem(place, unit.name)
            continue
        earlier = first.setdefault(unit.folded, unit.path)
        if earlier != unit.path:
            yield _problem(
                place,
                ProblemKind.CONFLICT,
                f"Another unit has this key already (line {lines.of(earlier)}; upper and lower "
                "case count as one): give this one its own `id`.",
            )


def _unit_key_problem(place: Segments, name: str) -> Problem:
    if len(derive_unit_key(name)) > ADDRESS_MAX:
        return _problem(
            place,
            ProblemKind.OUT_OF_RANGE,
            f"The key made of this name is longer than {ADDRESS_MAX} characters: give an `id`.",
        )
    return _problem(
        place,
        ProblemKind.INVALID,
        "No key can be made of this name: give the unit an `id` that starts with a letter.",
    )


def _nested_units(outline: Outline) -> Iterator[Problem]:
    for seat in outline.seats:
        if seat.written_in is None or seat.unit_ref is None:
            continue
        if fold_key(seat.unit_ref) != outline.units[seat.written_in].folded:
            yield _problem(
                (*seat.path, "unit"),
                ProblemKind.CONFLICT,
                "This seat is written inside a unit, so `unit` may only repeat that unit's key: "
                "remove it, or move the seat.",
            )


def _kinds(data: Any, outline: Outline) -> Iterator[Problem]:
    for seat in outline.seats:
        written = _at(data, seat.path)
        if seat.kind == "human":
            for key in HUMAN_REFUSES:
                if key in written:
                    yield _problem(
                        (*seat.path, key),
                        ProblemKind.CONFLICT,
                        f"A person's seat never runs, so it has no `{key}`: remove it.",
                    )
        else:
            for key in AGENT_REFUSES:
                if key in written:
                    yield _problem(
                        (*seat.path, key),
                        ProblemKind.CONFLICT,
                        f"`{key}` is for people: remove it, or set `kind: human`.",
                    )


def _chains(data: Any, outline: Outline) -> Iterator[Problem]:
    providers = _at(data, ("providers",))
    llm = providers.get("llm")
    known = set(llm) if isinstance(llm, dict) else set()
    for seat in outline.seats:
        written = _at(data, seat.path)
        for key in ("llm", *(f"llm_{phase}" for phase in CHAIN_PHASES[1:])):
            for place, reference in _chain_entries(written.get(key), (*seat.path, key)):
                if reference not in known:
                    yield _problem(
                        place,
                        ProblemKind.UNKNOWN_VALUE,
                        "No such key under `providers.llm`. "
                        + (
                            f"Known: {', '.join(sorted(map(str, known)))}."
                            if known
                            else "None is defined there."
                        ),
                    )


def _chain_entries(value: Any, place: Segments) -> Iterator[tuple[Segments, str]]:
    if isinstance(value, str):
        yield place, value
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str):
                yield (*place, index), item
    elif isinstance(value, dict):
        for phase, item in value.items():
            if phase in CHAIN_PHASES:
                yield from _chain_entries(item, (*place, phase))


def _identities(outline: Outline, lines: LineMap) -> Iterator[Problem]:
    """An outside identity belongs to one seat; two would be routed to whoever comes last."""
    first: dict[tuple[str, str], Segments] = {}
    for seat in outline.seats:
        named = [
            (f"contact.{kind}", value, (*seat.path, "contact", kind))
            for kind, value in seat.contact
        ]
        if seat.email:
            named.append(("email", normal_email(seat.email), (*seat.path, "email")))
        for kind, value, place in named:
            folded = value if is_reference(value) else "".join(value.lower().split())
            earlier = first.setdefault((kind, folded), place)
            if earlier != place:
                yield _problem(
                    place,
                    ProblemKind.CONFLICT,
                    f"Another seat has this identity already (line {lines.of(earlier)}): "
                    "one belongs to one seat.",
                )


def normal_email(text: str) -> str:
    """Gives the form in which addresses are compared: lower case, without a plus tag."""
    local, at, domain = text.strip().lower().rpartition("@")
    return f"{local.split('+', 1)[0]}{at}{domain}"


def _providers(data: Any) -> Iterator[Problem]:
    providers = _at(data, ("providers",)).get("llm")
    for key, entry in providers.items() if isinstance(providers, dict) else ():
        if not isinstance(entry, dict):
            continue
        place: Segments = ("providers", "llm", key)
        kind = entry.get("type")
        if kind in ("anthropic", "openai", "openai-compatible") and not entry.get("model"):
            yield _problem(
                (*place, "model"), ProblemKind.MISSING, "This type of provider needs a `model`."
            )
        if kind == "openai-compatible" and not entry.get("base_url"):
            yield _problem(
                (*place, "base_url"),
                ProblemKind.MISSING,
                "An openai-compatible provider needs the `base_url` of its server.",
            )
        if kind == "cli-agent" and not isinstance(entry.get("cli"), dict):
            yield _problem(
                (*place, "cli"),
                ProblemKind.MISSING,
                "A cli-agent needs `cli` with the program that answers.",
            )
        if kind != "cli-agent" and "cli" in entry:
            yield _problem(
                (*place, "cli"),
                ProblemKind.CONFLICT,
                "Only a provider of type cli-agent has `cli`: remove it, or change the type.",
            )
        if kind == "rehearsal":
            for name in ("api_keys", "base_url"):
                if name in entry:
                    yield _problem(
                        (*place, name),
                        ProblemKind.CONFLICT,
                        f"A rehearsal calls nobody, so it has no `{name}`: remove it.",
                    )


def _at(data: Any, segments: Segments) -> dict[str, Any]:
    found = data_at(data, segments)
    return found if isinstance(found, dict) else {}
