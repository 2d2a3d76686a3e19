"""Reads YAML or JSON text into plain data and remembers the line of every place.

YAML is built from the parser's events instead of a ready-made loader, because the promises are
narrower than YAML: no anchors, no merge keys, no tags, no second document, no key twice, and a
plain word stays the word that was typed (`no`, `09:30` and `010` are text).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
)

from orgs.document.problems import LineMap, Problem, ProblemKind, Segments

MAX_BYTES: Final = 2 * 1024 * 1024
MAX_DEPTH: Final = 200

_DIGITS: Final = 18
_INTEGER: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_DECIMAL: Final = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+")
_NULLS: Final = frozenset({"", "~", "null", "Null", "NULL"})
_TRUE: Final = frozenset({"true", "True", "TRUE"})
_FALSE: Final = frozenset({"false", "False", "FALSE"})


@dataclass(slots=True)
class Source:
    """Text read into data. `data` is None when nothing could be read; problems say why."""

    data: Any
    lines: LineMap
    problems: list[Problem] = field(default_factory=list)


class _Unreadable(Exception):
    """The rest of the text cannot be read; carries the problem to report."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


def read(text: str | bytes) -> Source:
    """Reads YAML or JSON, telling them apart by the first character; never raises on bad text."""
    try:
        plain = _decoded(text)
    except _Unreadable as fault:
        return Source(None, LineMap({}), [fault.problem])
    if plain.lstrip()[:1] in "{[" and plain.strip():
        return _read_json(plain)
    return _read_yaml(plain)


def _decoded(text: str | bytes) -> str:
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_BYTES:
        raise _unreadable(f"The file is larger than {MAX_BYTES // 1024} KiB.", 1)
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text[: error.start].count(b"\n") + 1
        raise _unreadable("The file is not UTF-8 text: save it as UTF-8.", line) from error


def _unreadable(message: str, line: int | None, segments: Segments = ()) -> _Unreadable:
    return _Unreadable(Problem(segments, ProblemKind.INVALID, message, line=line))


def _read_json(text: str) -> Source:
    repeated: list[str] = []

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        seen: dict[str, Any] = {}
        for key, value in items:
            if key in seen:
                repeated.append(key)
            seen[key] = value
        return seen

    # The event builder finds lines and double keys of JSON as well; what it alone rejects
    # (an escape that only JSON knows) costs the line numbers, not the document.
    located = _read_yaml(text)
    try:
        data = json.loads(text, object_pairs_hook=pairs)
    except (ValueError, RecursionError) as error:
        if located.data is not None or not isinstance(error, json.JSONDecodeError):
            return located
        problem = Problem((), ProblemKind.INVALID, f"Not JSON: {error.msg}.", line=error.lineno)
        return Source(None, LineMap({}), [problem])
    if located.data is not None:
        return Source(data, located.lines, located.problems)
    if _too_deep(data, MAX_DEPTH):
        return located
    problems = [
        Problem((key,), ProblemKind.CONFLICT, "This key stands twice in one object.")
        for key in repeated
    ]
    return Source(data, LineMap({(): 1}), problems)


def _too_deep(data: Any, left: int) -> bool:
    if left < 0:
        return True
    inner = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    return any(_too_deep(value, left - 1) for value in inner)


def _read_yaml(text: str) -> Source:
    builder = _Builder(text)
    try:
        data = builder.document()
    except _Unreadable as fault:
        builder.problems.append(fault.problem)
        data = None
    except MarkedYAMLError as error:
        builder.problems.append(_syntax_problem(error, text))
        data = None
    except (YAMLError, RecursionError):
        builder.problems.append(
            Problem((), ProblemKind.INVALID, "This is not YAML that can be read.", line=1)
        )
        data = None
    return Source(data, LineMap(builder.lines), builder.problems)


def _syntax_problem(error: MarkedYAMLError, text: str) -> Problem:
    # What is never closed is told where it opens, not at the end of the file.
    unclosed = error.context_mark is not None and "end of stream" in (error.problem or "")
    mark = error.context_mark if unclosed else error.problem_mark or error.context_mark
    line = mark.line + 1 if mark is not None else 1
    rows = text.splitlines()
    row = rows[line - 1] if 0 < line <= len(rows) else ""
    if "\t" in row[: len(row) - len(row.lstrip())]:
        message = "A tab is used for indentation: YAML takes spaces only."
    elif "mapping values are not allowed" in (error.problem or ""):
        message = "A second `: ` on one line: put the text after the first one in quotes."
    else:
        # The parser's own words name a construct ("expected <block end>"), never the text.
        message = "This line is not YAML: check the indentation, the quotes and the colons."
    return Problem((), ProblemKind.INVALID, message, line=line)


class _Builder:
    """Builds data from events; every problem that does not stop the reading is collected."""

    def __init__(self, text: str) -> None:
        self.lines: dict[Segments, int] = {}
        self.problems: list[Problem] = []
        self._events: Iterator[Event] = iter(YAML(typ="safe", pure=True).parse(text))

    def document(self) -> Any:
        event = self._next()
        while not isinstance(event, DocumentStartEvent):
            if type(event).__name__ == "StreamEndEvent":
                raise _unreadable("The file is empty: a company needs at least a name.", 1)
            event = self._next()
        data = self._value(self._next(), (), 0)
        self._next()  # the end of the document
        after = self._next()
        if isinstance(after, DocumentStartEvent):
            raise _unreadable(
                "A second document begins here: one file holds one company.", _line(after)
            )
        return data

    def _next(self) -> Event:
        return next(self._events)

    def _value(self, event: Event, place: Segments, depth: int) -> Any:
        self.lines.setdefault(place, _line(event))
        if depth > MAX_DEPTH:
            raise _unreadable(f"Nested deeper than {MAX_DEPTH} levels.", _line(event), place)
        self._refuse_extras(event, place)
        if isinstance(event, MappingStartEvent):
            return self._mapping(place, depth)
        if isinstance(event, SequenceStartEvent):
            return self._sequence(place, depth)
        if isinstance(event, ScalarEvent):
            return _scalar(event)
        return None

    def _refuse_extras(self, event: Event, place: Segments) -> None:
        line = _line(event)
        if isinstance(event, AliasEvent):
            self._note(place, "Aliases (`*name`) are not read: write the value out here.", line)
        elif getattr(event, "anchor", None):
            self._note(place, "Anchors (`&name`) are not read: write each value out.", line)
        elif str(getattr(event, "tag", None) or "!") != "!":
            self._note(place, "Tags (`!…`) are not read: give the plain value.", line)

    def _note(self, place: Segments, message: str, line: int) -> None:
        self.problems.append(Problem(place, ProblemKind.INVALID, message, line=line))

    def _mapping(self, place: Segments, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := self._next(), MappingEndEvent):
            key = self._key(event, place)
            here = (*place, key)
            line = _line(event)
            if key in found:
                first = self.lines.get(here)
                self.problems.append(
                    Problem(
                        here,
                        ProblemKind.CONFLICT,
                        f"This key stands twice here; it was first given on line {first}.",
                        line=line,
                    )
                )
                self._skip(depth)
                continue
            self.lines[here] = line
            found[key] = self._value(self._next(), here, depth + 1)
        return found

    def _skip(self, depth: int) -> None:
        """Reads the value of a repeated key for its syntax only, so the first one stays."""
        kept = dict(self.lines)
        count = len(self.problems)
        self._value(self._next(), ("",), depth + 1)
        self.lines = kept
        del self.problems[count:]

    def _key(self, event: Event, place: Segments) -> str:
        if not isinstance(event, ScalarEvent):
            raise _unreadable("A key must be one plain word.", _line(event), place)
        if event.value == "<<" and event.style is None:
            self._note(
                (*place, "<<"), "Merge keys (`<<`) are not read: write the keys out.", _line(event)
            )
        return str(event.value)

    def _sequence(self, place: Segments, depth: int) -> list[Any]:
        items: list[Any] = []
        while not isinstance(event := self._next(), SequenceEndEvent):
            items.append(self._value(event, (*place, len(items)), depth + 1))
        return items


def _line(event: Event) -> int:
    mark = event.start_mark
    return int(mark.line) + 1 if mark is not None else 1


def _scalar(event: ScalarEvent) -> Any:
    text = str(event.value)
    if event.style is not None:
        return text
    if text in _NULLS:
        return None
    if text in _TRUE or text in _FALSE:
        return text in _TRUE
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) <= _DIGITS else text
    return float(text) if _DECIMAL.fullmatch(text) else text
