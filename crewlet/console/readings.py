"""What several parts of one page say is read once, so that no two of them can disagree."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

T = TypeVar("T")
_kept: ContextVar[dict[str, Any] | None] = ContextVar("readings of one page", default=None)


@contextmanager
def one_reading() -> Iterator[None]:
    """Keeps what `once` reads until the page is drawn."""
    token = _kept.set({})
    try:
        yield
    finally:
        _kept.reset(token)


def once(name: str, read: Callable[[], T]) -> T:
    """Returns what `read` answers, the same for everyone who asks while one page is drawn."""
    kept = _kept.get()
    if kept is None:
        return read()
    if name not in kept:
        kept[name] = read()
    found: T = kept[name]
    return found
