"""Which values of a document open something, how they are hidden and brought back.

The marks stand on the fields themselves (`x-crewlet-secret`) and are read from the schema; a test
fails on a field that looks like a secret and carries none.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final

from orgs.document.dialect import data_at
from orgs.document.names import derive_handle, derive_unit_key, fold_key
from orgs.document.problems import Problem, ProblemKind, Segments
from orgs.document.schema import schema
from orgs.document.variables import is_reference

MASK: Final = "__redacted__"
MARK: Final = "x-crewlet-secret"
_ALTERNATIVES: Final = ("anyOf", "oneOf", "allOf")
_NAMED: Final = frozenset({"mcp_servers", "setup", "schedules"})

Identity = tuple[str | tuple[str, str] | tuple[int, int], ...]


@lru_cache(maxsize=1)
def _schema() -> dict[str, Any]:
    return schema()


def secret_places(data: Any) -> Iterator[Segments]:
    """Yields the places of secret values in plain data, each once."""
    yield from dict.fromkeys(_places(data, _schema(), ()))


def _places(data: Any, node: Any, place: Segments) -> Iterator[Segments]:
    if not isinstance(node, dict):
        return
    if node.get(MARK):
        yield place
    if "$ref" in node:
        yield from _places(data, _schema()["$defs"][node["$ref"].rsplit("/", 1)[1]], place)
    for word in _ALTERNATIVES:
        for choice in node.get(word, ()):
            yield from _places(data, choice, place)
    for segment, value, inner in _children(data, node):
        yield from _places(value, inner, (*place, segment))


def _children(data: Any, node: dict[str, Any]) -> Iterator[tuple[str | int, Any, Any]]:
    """Yields the values inside a value, each with a schema that may describe it."""
    named = node.get("properties", {})
    free = [node.get("additionalProperties"), *node.get("patternProperties", {}).values()]
    for key, value in data.items() if isinstance(data, dict) else ():
        for inner in [named[key]] if key in named else free:
            yield key, value, inner
    for index, value in enumerate(data if isinstance(data, list) else ()):
        yield index, value, node.get("items")


def masked(data: dict[str, Any]) -> dict[str, Any]:
    """Gives a copy in which every secret that is not exactly one `${NAME}` is hidden."""
    hidden = copy.deepcopy(data)
    for place in secret_places(data):
        value = data_at(data, place)
        if not (isinstance(value, str) and is_reference(value)):
            data_at(hidden, place[:-1])[place[-1]] = MASK
    return hidden


def restored(data: Any, base: Any) -> tuple[Any, list[Problem]]:
    """Puts back the values that were sent back hidden, from the revision they were read from.

    What holds a value is known by what it is: a seat by its handle and a unit by its key wherever
    they moved, a server, a step and a schedule by name, anything else in a map by its key. An
    entry of a bare list is known by its position, and only where both lists are equally long.
    Anything looser could give one its neighbour's key.
    """
    result = copy.deepcopy(data)
    waiting = [place for place in secret_places(data) if data_at(data, place) == MASK]
    if not waiting:
        return result, []
    known: dict[Identity, Any] = {}
    twice: set[Identity] = set()
    for place in secret_places(base):
        identity = _identity(base, place)
        if identity in known:
            twice.add(identity)
        known[identity] = data_at(base, place)
    problems: list[Problem] = []
    for place in waiting:
        identity = _identity(data, place)
        if identity in known and identity not in twice:
            data_at(result, place[:-1])[place[-1]] = known[identity]
        else:
            problems.append(
                Problem(
                    place,
                    ProblemKind.INVALID,
                    "This is the mask of a hidden value and nothing stands behind it here: "
                    "give the value itself or a ${NAME}.",
                )
            )
    return result, problems


def _identity(data: Any, place: Segments) -> Identity:
    """Names what holds a value; a list's position counts only where nothing better is known."""
    found: Identity = ()
    for end, segment in enumerate(place):
        if isinstance(segment, str):
            found = (*found, segment)
            continue
        holder = str(place[end - 1])
        listed = data_at(data, place[:end])
        entry = listed[segment]
        name = _text(entry, "name")
        if holder == "roles":
            found = (("seat", _text(entry, "handle") or derive_handle(name)),)
        elif holder in ("units", "children"):
            found = (("unit", fold_key(_text(entry, "id") or derive_unit_key(name))),)
        elif holder in _NAMED and name:
            found = (*found, ("name", name))
        else:
            found = (*found, (segment, len(listed)))
    return found


def _text(entry: Any, key: str) -> str:
    value = entry.get(key) if isinstance(entry, dict) else None
    return value if isinstance(value, str) else ""
