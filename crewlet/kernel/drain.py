"""The drain mark: a row that every process reads. Reads stay, new work answers 503."""

from __future__ import annotations

from dataclasses import dataclass

from crewlet.kernel import clock
from crewlet.kernel.errors import Draining
from crewlet.kernel.models import DrainMark

_FRESH_SECONDS = 1.0


@dataclass(slots=True)
class _Seen:
    at: float = -_FRESH_SECONDS
    draining: bool = False


_seen = _Seen()


def raise_mark(by: str) -> None:
    """Says that the engine is stopping."""
    DrainMark.objects.update_or_create(id=1, defaults={"by": by, "at": clock.now()})
    _seen.at = -_FRESH_SECONDS


def lower() -> None:
    """Says that the engine serves again."""
    DrainMark.objects.filter(id=1).delete()
    _seen.at = -_FRESH_SECONDS


def is_draining() -> bool:
    """Returns whether the mark is up; the answer may be a second old."""
    if clock.monotonic() - _seen.at >= _FRESH_SECONDS:
        _seen.draining = DrainMark.objects.filter(id=1).exists()
        _seen.at = clock.monotonic()
    return _seen.draining


def refuse_new_work() -> None:
    """Raises `Draining` while the mark is up."""
    if is_draining():
        raise Draining("Crewlet is stopping. Reads still work; send this again in a few seconds.")
