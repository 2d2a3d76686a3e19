"""Server-sent events from a byte stream, split at line feeds and nowhere else.

A general line splitter also breaks at U+2028 and its kin, which models write inside their JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ServerEvent:
    """One event: its name, empty for the default, and its data lines joined."""

    name: str
    data: str


def server_events(chunks: Iterable[bytes]) -> Iterator[ServerEvent]:
    """Yields the events of a stream as they end; an event that the stream cut off is not one."""
    name = ""
    data: list[str] = []
    for line in _lines(chunks):
        if not line:
            if data or name:
                yield ServerEvent(name, "\n".join(data))
            name, data = "", []
            continue
        field, _, value = line.removeprefix("\ufeff").partition(":")
        value = value.removeprefix(" ")
        if field == "event":
            name = value
        elif field == "data":
            data.append(value)
    if data:
        # Several servers leave out the blank line after their last event.
        yield ServerEvent(name, "\n".join(data))


def _lines(chunks: Iterable[bytes]) -> Iterator[str]:
    rest = b""
    for chunk in chunks:
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            yield line.rstrip(b"\r").decode("utf-8", "replace")
    if rest:
        yield rest.rstrip(b"\r").decode("utf-8", "replace")
