"""Which values of a document open something, how they are hidden and brought back.

The marks stand on the fields themselves (`x-crewlet-secret`); a test fails on a field that looks
like a secret and carries none.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, Final

from orgs.document.dialect import data_at
from orgs.document.problems import Problem, ProblemKind, Segments
from orgs.document.variables import is_reference

MASK: Final = "__redacted__"


def secret_places(data: Any) -> Iterator[Segments]:
    """Yields the places of secret values in plain data."""
    llm = data_at(data, ("providers", "llm"))
    for key, entry in llm.items() if isinstance(llm, dict) else ():
        keys = entry.get("api_keys") if isinstance(entry, dict) else None
        for index in range(len(keys)) if isinstance(keys, list) else ():
            yield ("providers", "llm", key, "api_keys", index)


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

    A provider is found by its key, a key in its list by position, and only where both lists are
    equally long: anything else could give one provider its neighbour's key.
    """
    result = copy.deepcopy(data)
    problems: list[Problem] = []
    for place in secret_places(data):
        if data_at(data, place) != MASK:
            continue
        known = data_at(base, place[:-1])
        listed = data_at(data, place[:-1])
        if isinstance(known, list) and len(known) == len(listed):
            data_at(result, place[:-1])[place[-1]] = data_at(base, place)
        else:
            problems.append(
                Problem(
                    place,
                    ProblemKind.INVALID,
                    "This is the mask of a hidden value and nothing stands behind it here: "
                    "give the key itself or a ${NAME}.",
                )
            )
    return result, problems
