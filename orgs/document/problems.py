"""What is wrong with a document, and where: located, one per place, never quoting a value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Segment = str | int
Segments = tuple[Segment, ...]

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class ProblemKind(StrEnum):
    """The seven ways a document can be wrong.

    missing: a required key is absent. unknown_value: not one of the words allowed here.
    out_of_range: a number or a length beyond its limits. conflict: two places that cannot both
    stand. unknown_field: a key that does not exist here. shape: another type was expected.
    invalid: the right type, but not a well-formed one.
    """

    MISSING = "missing"
    UNKNOWN_VALUE = "unknown_value"
    OUT_OF_RANGE = "out_of_range"
    CONFLICT = "conflict"
    UNKNOWN_FIELD = "unknown_field"
    SHAPE = "shape"
    INVALID = "invalid"


def path_of(segments: Segments) -> str:
    """Writes segments as people read them: `units[0].roles[1].handle`; "" is the whole document."""
    out = ""
    for segment in segments:
        if isinstance(segment, int):
            out += f"[{segment}]"
        elif _PLAIN_KEY.fullmatch(segment):
            out += f".{segment}" if out else segment
        else:
            out += '["' + segment.replace('"', '\\"') + '"]'
    return out


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that keeps a document from being applied; `line` counts from 1."""

    segments: Segments
    kind: ProblemKind
    message: str
    seat: str | None = None
    unit: str | None = None
    line: int | None = None

    @property
    def path(self) -> str:
        return path_of(self.segments)

    def to_json(self) -> dict[str, Any]:
        """Gives the shape the API and `--json` show."""
        return {
            "path": self.path,
            "segments": list(self.segments),
            "kind": self.kind.value,
            "message": self.message,
            "seat": self.seat,
            "unit": self.unit,
            "line": self.line,
        }


@dataclass(frozen=True, slots=True)
class Caution:
    """One thing that is allowed and probably not meant; applying goes on."""

    segments: Segments
    code: str
    message: str
    seat: str | None = None
    unit: str | None = None
    line: int | None = None

    @property
    def path(self) -> str:
        return path_of(self.segments)

    def to_json(self) -> dict[str, Any]:
        """Gives the shape the API and `--json` show."""
        return {
            "path": self.path,
            "segments": list(self.segments),
            "code": self.code,
            "message": self.message,
            "seat": self.seat,
            "unit": self.unit,
            "line": self.line,
        }


class LineMap:
    """Line numbers of a document's places; a place without one answers with its container's."""

    def __init__(self, lines: Mapping[Segments, int]) -> None:
        self._lines = lines

    def of(self, segments: Segments) -> int | None:
        """Gives the line of a place, or of the nearest container that has one."""
        for end in range(len(segments), -1, -1):
            line = self._lines.get(segments[:end])
            if line is not None:
                return line
        return None


def one_per_place(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Keeps the first problem of each place, in the order of the document.

    The first is the most basic one: shape is checked before meaning.
    """
    first: dict[Segments, Problem] = {}
    for problem in problems:
        first.setdefault(problem.segments, problem)
    return tuple(sorted(first.values(), key=_position))


def _position(problem: Problem) -> tuple[int, tuple[tuple[int, str], ...]]:
    steps = tuple(
        (segment, "") if isinstance(segment, int) else (0, segment) for segment in problem.segments
    )
    return (problem.line or 0, steps)
