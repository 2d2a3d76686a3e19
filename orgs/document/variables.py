"""`${NAME}` references: found and told from literals here, resolved where a value is used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from orgs.document.problems import Segments

_REFERENCE: Final = re.compile(r"\$\{([A-Za-z_]\w*)\}", re.ASCII)


def is_reference(text: str) -> bool:
    """Says whether the text is exactly one `${NAME}` and nothing else."""
    return _REFERENCE.fullmatch(text) is not None


def references(data: Any) -> tuple[str, ...]:
    """Lists the names that values of the data refer to, sorted, each once."""
    return tuple(sorted({name for text in texts(data) for name in _REFERENCE.findall(text)}))


def places_of(data: Any, place: Segments = ()) -> dict[str, list[Segments]]:
    """Gives, for each name that values refer to, the places that do, in the document's order."""
    found: dict[str, list[Segments]] = {}
    if isinstance(data, str):
        for name in dict.fromkeys(_REFERENCE.findall(data)):
            found[name] = [place]
        return found
    inner: Iterable[tuple[str | int, Any]] = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for key, value in inner:
        for name, places in places_of(value, (*place, key)).items():
            found.setdefault(name, []).extend(places)
    return found


def texts(data: Any) -> Iterator[str]:
    """Yields every text value of nested data; keys are not values."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from texts(value)
