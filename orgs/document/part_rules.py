"""Rules between two places of the parts around the chart: servers, workers, schedules, vendors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from orgs.document.dialect import NOT_YET, data_at
from orgs.document.outline import Outline
from orgs.document.problems import Caution, LineMap, Problem, ProblemKind, Segments

RESERVED_SERVER: Final = "crewlet"
RESERVED_VARIABLE: Final = "crewlet_base_url"
WORKER_CEILING: Final = 40
_BASES: Final = (
    ("max_tool_rounds", "execute_max_tool_rounds_ceiling", 24, 48),
    ("onboarding_max_tool_rounds", "onboarding_max_tool_rounds_ceiling", 10, 20),
)


def part_problems(data: Any, outline: Outline, lines: LineMap) -> Iterator[Problem]:
    """Yields the problems between places, in no particular order."""
    yield from _backends(data)
    yield from _knowledge(data, outline)
    yield from _reserved(data)
    yield from _engine(data)
    yield from _workers(data, outline)
    yield from _named_once(data, outline, lines)
    yield from _seats(data, outline)
    yield from _datadog(data, outline)


def not_acted_on(data: Any, outline: Outline) -> Iterator[Caution]:
    """Yields one caution for each kind of block that is kept and not acted on yet."""
    seen: set[str] = set()
    for place in _unused(data, outline):
        key = str(place[-1])
        if key in seen:
            continue
        seen.add(key)
        yield Caution(
            place,
            "not_used_yet",
            f"`{key}` is accepted and kept; this version does not act on it. It takes effect "
            "with the part it belongs to.",
        )


def _unused(data: Any, outline: Outline) -> Iterator[Segments]:
    root = _map(data, ())
    for key in NOT_YET["company"]:
        if key in root:
            yield (key,)
    written = _map(data, ("turn_engine",))
    yield from (("turn_engine", key) for key in NOT_YET["turn_engine"] if key in written)
    for key in ("embeddings", "sandbox"):
        if key in _map(data, ("providers",)):
            yield ("providers", key)
    for name, entry in _map(data, ("providers", "llm")).items():
        if isinstance(entry, dict) and entry.get("type") == "cli-agent":
            yield ("providers", "llm", name, "cli")
    if _map(data, ("tracker",)).get("backend") == "jira":
        yield ("tracker",)
    for kind, listed in (("seat", outline.seats), ("unit", outline.units)):
        for item in listed:
            written = _map(data, item.path)
            yield from ((*item.path, key) for key in NOT_YET[kind] if key in written)


def _backends(data: Any) -> Iterator[Problem]:
    for block, vendor in (("tracker", "jira"), ("knowledge", "confluence")):
        native = _map(data, (block,)).get("backend") == "native"
        if native and vendor in _map(data, ("integrations",)):
            yield Problem(
                (block, "backend"),
                ProblemKind.CONFLICT,
                f"`native` cannot stand beside `integrations.{vendor}`: remove one of the two.",
            )


def _knowledge(data: Any, outline: Outline) -> Iterator[Problem]:
    knowledge = _map(data, ("knowledge",))
    if knowledge.get("vectors") is True and "embeddings" not in _map(data, ("providers",)):
        yield Problem(
            ("knowledge", "vectors"),
            ProblemKind.CONFLICT,
            "Search by meaning needs `providers.embeddings`: add it, or remove `vectors`.",
        )
    named = (knowledge.get(key) for key in ("skills_container", "root_space"))
    taken = [space for space in named if isinstance(space, str)]
    placed = [*(unit.path for unit in outline.units), *(seat.path for seat in outline.seats)]
    for path in placed:
        if _map(data, path).get("space") in taken:
            yield Problem(
                (*path, "space"),
                ProblemKind.CONFLICT,
                "This space is the company's own (`knowledge`): take another key.",
            )


def _reserved(data: Any) -> Iterator[Problem]:
    for place, entry in _entries(data, ("mcp_servers",)):
        if entry.get("name") == RESERVED_SERVER:
            yield Problem(
                (*place, "name"),
                ProblemKind.CONFLICT,
                "This name belongs to the engine's own server: take another one.",
            )
        needed = "url" if entry.get("transport") == "http" else "command"
        if needed not in entry:
            yield Problem(
                (*place, needed), ProblemKind.MISSING, f"This kind of server needs `{needed}`."
            )
    if RESERVED_VARIABLE in _map(data, ("skill_variables",)):
        yield Problem(
            ("skill_variables", RESERVED_VARIABLE),
            ProblemKind.CONFLICT,
            "The engine gives this variable itself: remove it.",
        )


def _engine(data: Any) -> Iterator[Problem]:
    engine, inner = _map(data, ("turn_engine",)), _map(data, ("turn_engine", "delegation"))
    pairs = [(("turn_engine",), engine, *base) for base in _BASES]
    pairs.append(
        (("turn_engine", "delegation"), inner, "max_turns", "max_turns_ceiling", 20, 40)  # type: ignore[arg-type]
    )
    for place, holder, base, ceiling, low, high in pairs:
        least, most = holder.get(base, low), holder.get(ceiling, high)
        if isinstance(least, int) and isinstance(most, int) and most < least:
            yield Problem(
                (*place, ceiling if ceiling in holder else base),
                ProblemKind.OUT_OF_RANGE,
                f"`{ceiling}` is at least `{base}` ({least}).",
            )


def _workers(data: Any, outline: Outline) -> Iterator[Problem]:
    workers, models = _map(data, ("workers",)), _map(data, ("providers", "llm"))
    ceiling = _map(data, ("turn_engine", "delegation")).get("max_turns_ceiling", WORKER_CEILING)
    for name, worker in workers.items():
        entry = worker if isinstance(worker, dict) else {}
        model, turns = entry.get("model"), entry.get("max_turns")
        if isinstance(model, str) and model not in models:
            yield Problem(
                ("workers", name, "model"),
                ProblemKind.UNKNOWN_VALUE,
                "No such key under `providers.llm`.",
            )
        if isinstance(turns, int) and isinstance(ceiling, int) and turns > ceiling:
            yield Problem(
                ("workers", name, "max_turns"),
                ProblemKind.OUT_OF_RANGE,
                f"This is at most `turn_engine.delegation.max_turns_ceiling` ({ceiling}).",
            )
    for seat in outline.seats:
        listed = _map(data, seat.path).get("workers")
        for index, name in enumerate(listed if isinstance(listed, list) else ()):
            if isinstance(name, str) and name not in workers:
                yield Problem(
                    (*seat.path, "workers", index),
                    ProblemKind.UNKNOWN_VALUE,
                    "No such worker under `workers`: add it there, or remove it here.",
                )


def _named_once(data: Any, outline: Outline, lines: LineMap) -> Iterator[Problem]:
    """Servers, steps and schedules are known by name; two of one name could not be told apart."""
    lists: list[Segments] = [("mcp_servers",), ("providers", "sandbox", "setup")]
    for seat in outline.seats:
        lists += [(*seat.path, "schedules"), (*seat.path, "sandbox", "setup")]
    lists += [(*unit.path, "schedules") for unit in outline.units]
    for listed in lists:
        first: dict[str, Segments] = {}
        for place, entry in _entries(data, listed):
            name = entry.get("name")
            if isinstance(name, str) and first.setdefault(name, place) != place:
                yield Problem(
                    (*place, "name"),
                    ProblemKind.CONFLICT,
                    f"This name stands in the list already (line {lines.of(first[name])}): "
                    "give this one another.",
                )


def _seats(data: Any, outline: Outline) -> Iterator[Problem]:
    for seat in outline.seats:
        if seat.kind == "human":
            continue
        slack = _map(data, (*seat.path, "integrations", "slack"))
        for here, other in (("bot_token", "signing_secret"), ("signing_secret", "bot_token")):
            if here in slack and other not in slack:
                yield Problem(
                    (*seat.path, "integrations", "slack", other),
                    ProblemKind.MISSING,
                    f"A Slack app has `{here}` and `{other}` together.",
                )
        for index, (place, entry) in enumerate(_entries(data, (*seat.path, "schedules"))):
            if "target" in entry:
                yield Problem(
                    (*place, "target"),
                    ProblemKind.CONFLICT,
                    f"A seat's schedule {index + 1} wakes that seat: `target` is for units.",
                )


def _datadog(data: Any, outline: Outline) -> Iterator[Problem]:
    fallback = _map(data, ("integrations", "datadog")).get("fallback")
    agents = {seat.handle for seat in outline.seats if seat.kind == "agent"}
    if isinstance(fallback, str) and fallback != "none" and fallback not in agents:
        yield Problem(
            ("integrations", "datadog", "fallback"),
            ProblemKind.UNKNOWN_VALUE,
            "This must be the handle of an agent seat, or `none`.",
        )


def _map(data: Any, segments: Segments) -> dict[str, Any]:
    found = data_at(data, segments)
    return found if isinstance(found, dict) else {}


def _entries(data: Any, segments: Segments) -> Iterator[tuple[Segments, dict[str, Any]]]:
    listed = data_at(data, segments)
    for index, entry in enumerate(listed if isinstance(listed, list) else ()):
        if isinstance(entry, dict):
            yield (*segments, index), entry
