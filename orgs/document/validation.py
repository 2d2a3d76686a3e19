"""Checks a document as a whole: every problem at once, located, without quoting a value."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from orgs.chart import Chart, derive
from orgs.document import dialect
from orgs.document.company import CompanyDocument
from orgs.document.outline import Outline, outline_of
from orgs.document.part_rules import not_acted_on, part_problems
from orgs.document.problems import (
    Caution,
    LineMap,
    Problem,
    ProblemKind,
    Segments,
    one_per_place,
)
from orgs.document.rules import cross_problems
from orgs.document.source import read


@dataclass(frozen=True, slots=True)
class Reading:
    """A document that was read: the model when it may be applied, and all there is to say.

    `data` is the plain data as written, None when the text could not be read at all; `chart` is
    what the readable part describes, even when problems forbid to apply it. `unsupported` are the
    places of blocks that are kept and that no part of this version acts on.
    """

    data: Any
    document: CompanyDocument | None
    chart: Chart
    problems: tuple[Problem, ...]
    warnings: tuple[Caution, ...]
    unsupported: tuple[str, ...]


def validate_text(text: str | bytes) -> Reading:
    """Reads and checks YAML or JSON text; never raises on what the text says."""
    source = read(text)
    return _validate(source.data, source.lines, source.problems)


def validate_data(data: Any) -> Reading:
    """Checks JSON-like data, as a program hands it over; there are no line numbers then."""
    return _validate(json.loads(json.dumps(data)), LineMap({}), [])


def _validate(data: Any, lines: LineMap, found: list[Problem]) -> Reading:
    outline = outline_of(data)
    chart = derive(outline)
    problems = list(found)
    document: CompanyDocument | None = None
    if data is not None or not found:
        problems.extend(_value_problems(data, ()))
        fit, shape = _fitted(data)
        document = fit
        # A person's seat with `schedules` hears that people have none, not that we lack them.
        cross = [*cross_problems(data, outline, lines), *part_problems(data, outline, lines)]
        places = {problem.segments for problem in cross}
        problems.extend(p for p in shape if p.segments not in places)
        problems.extend(cross)
    models = dialect.data_at(data, ("providers", "llm"))
    kept = one_per_place(_located(p, outline, lines) for p in problems)
    unused = tuple(not_acted_on(data, outline))
    warnings = tuple(
        _located_caution(c, outline, lines)
        for c in (*_cautions(outline, chart, has_models=bool(models)), *unused)
    )
    return Reading(
        data=data,
        document=document if not kept else None,
        chart=chart,
        problems=kept,
        warnings=warnings,
        unsupported=tuple(caution.path for caution in unused),
    )


_HALF_PAIR = re.compile("[\ud800-\udfff]")


def _value_problems(data: Any, place: Segments) -> Iterator[Problem]:
    """Yields what no value anywhere may be: empty, or text that cannot be stored."""
    if data is None:
        yield Problem(place, ProblemKind.SHAPE, "This is empty: give it a value or remove the key.")
    elif isinstance(data, str):
        if "\x00" in data or _HALF_PAIR.search(data):
            yield Problem(
                place, ProblemKind.INVALID, "This text holds a character that cannot be stored."
            )
    elif isinstance(data, float) and not math.isfinite(data):
        yield Problem(place, ProblemKind.INVALID, "This is not a number that JSON can carry.")
    elif isinstance(data, dict):
        for key, value in data.items():
            yield from _value_problems(value, (*place, key))
    elif isinstance(data, list):
        for index, value in enumerate(data):
            yield from _value_problems(value, (*place, index))


def _fitted(data: Any) -> tuple[CompanyDocument | None, list[Problem]]:
    if not isinstance(data, dict):
        return None, [
            Problem((), ProblemKind.SHAPE, "A company is a map of keys: start with `name:`.")
        ]
    try:
        # Through JSON, so that lists fit tuples and words fit enums while nothing is converted.
        return CompanyDocument.model_validate_json(json.dumps(data)), []
    except ValidationError as error:
        details = error.errors(include_url=False, include_input=False)
        # Half a pair and NaN are no JSON at all; `_value_problems` names their places.
        return None, [_problem(d, data) for d in details if d["type"] != "json_invalid"]


def _problem(detail: ErrorDetails, data: Any) -> Problem:
    segments = _place(detail, data)
    kind, message = _words(detail, segments)
    return Problem(segments, kind, message)


def _place(detail: ErrorDetails, data: Any) -> Segments:
    """Turns pydantic's location into the place in the data: its union tags are not ours."""
    place: list[str | int] = []
    here = data
    last = len(detail["loc"]) - 1
    for index, segment in enumerate(detail["loc"]):
        inside = (isinstance(here, dict) and segment in here) or (
            isinstance(here, list) and isinstance(segment, int) and segment < len(here)
        )
        if inside:
            here = here[segment]
            place.append(segment)
        elif index == last and detail["type"] == "missing":
            place.append(segment)
    return tuple(place)


_PATTERNS = {
    "handle": "A handle is a-z, 0-9 and hyphens, and starts with a letter or a digit.",
    "id": "A unit's key is letters, digits, `_` and `-`, and starts with a letter.",
    "cron": "A cron line is five fields: minute, hour, day, month, weekday.",
    "project": "A project key is a capital letter and 1 to 9 more capitals or digits, like ENG.",
}
_PROVIDER_KEY = "A provider's key is letters, digits, `_` and `-`."
_LIMITS = ("gt", "ge", "lt", "le", "min_length", "max_length")
_LIMIT_WORDS = {
    "gt": "more than {}",
    "ge": "at least {}",
    "lt": "less than {}",
    "le": "at most {}",
    "min_length": "at least {} characters long",
    "max_length": "at most {} characters long",
}


def _words(detail: ErrorDetails, segments: Segments) -> tuple[ProblemKind, str]:
    kind, context = detail["type"], detail.get("ctx", {})
    if kind == "missing":
        return ProblemKind.MISSING, f"`{segments[-1]}` is required here."
    if kind in set(ProblemKind):
        return ProblemKind(kind), detail["msg"]
    if kind == "extra_forbidden":
        return ProblemKind.UNKNOWN_FIELD, dialect.refusal(segments)
    if kind in ("enum", "literal_error"):
        return ProblemKind.UNKNOWN_VALUE, _allowed(str(context.get("expected", "")))
    if kind == "string_pattern_mismatch":
        return ProblemKind.INVALID, _PATTERNS.get(str(segments[-1]), _PROVIDER_KEY)
    limit = next((name for name in _LIMITS if name in context), None)
    if limit is not None:
        wanted = _LIMIT_WORDS[limit].format(context[limit])
        return ProblemKind.OUT_OF_RANGE, f"This must be {wanted}."
    return ProblemKind.SHAPE, _shape_words(kind, segments)


def _allowed(expected: str) -> str:
    return f"This must be one of: {expected.replace(chr(39), '')}."


def _shape_words(kind: str, segments: Segments) -> str:
    if kind.startswith("string"):
        return "Text is expected here. If it reads as a number or a switch word, put it in quotes."
    if kind.startswith("int"):
        return "A whole number is expected here, without quotes and separators."
    if kind.startswith("bool"):
        return "true or false is expected here."
    if kind.startswith(("tuple", "list")):
        return "A list is expected here: begin each entry with `- `."
    if segments and segments[-1] == "token_budget":
        return "Ceilings are a map of windows, like `{day: 200000, month: 4000000}`."
    return "A map of keys is expected here."


def _cautions(outline: Outline, chart: Chart, *, has_models: bool) -> Iterator[Caution]:
    meant = {
        "lead": "This lead names no seat, so the unit is led from above: use a seat's handle.",
        "unit": "This unit does not exist, so the seat stays at the root: use a unit's key.",
        "manages": "This names neither a seat nor a unit and is ignored: use a handle or a key.",
    }
    for dangling in chart.dangling:
        yield Caution(dangling.segments, "dangling_reference", meant[dangling.field])
    for circle in chart.cycles:
        first = chart.seats[circle[0]]
        yield Caution(
            (*first.path, "manages"),
            "management_cycle",
            f"These seats manage each other in a circle: {', '.join(circle)}.",
        )
    if not has_models and any(seat.kind == "agent" for seat in outline.seats):
        yield Caution(
            ("providers",),
            "company_has_no_models",
            "No model provider is named: the agents' mail is kept and waits until one is added.",
        )
    for seat in outline.seats:
        if seat.handle and any(reference == seat.handle for _, reference in seat.manages):
            yield Caution(
                (*seat.path, "manages"),
                "manages_itself",
                "A seat does not manage itself; the entry is ignored.",
            )
        if seat.kind == "human" and not seat.contact and not seat.email:
            yield Caution(
                seat.path,
                "seat_unreachable",
                "This person has neither an e-mail nor a contact: only their Inbox here reaches "
                "them.",
            )


def _located(problem: Problem, outline: Outline, lines: LineMap) -> Problem:
    seat, unit = outline.seat_around(problem.segments), outline.unit_around(problem.segments)
    return replace(
        problem,
        seat=(seat.handle or None) if seat else None,
        unit=(unit.key or None) if unit else None,
        line=problem.line or lines.of(problem.segments),
    )


def _located_caution(caution: Caution, outline: Outline, lines: LineMap) -> Caution:
    seat, unit = outline.seat_around(caution.segments), outline.unit_around(caution.segments)
    return replace(
        caution,
        seat=(seat.handle or None) if seat else None,
        unit=(unit.key or None) if unit else None,
        line=lines.of(caution.segments),
    )
