"""A part of a page that fails says so itself; the frame around it stands."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from django.db import InterfaceError, OperationalError

from crewlet.kernel.errors import CrewletError, ErrorCode

T = TypeVar("T")
log = logging.getLogger(__name__)
BROKEN = "Something of ours broke here. It is in the log of web."


@dataclass(frozen=True, slots=True)
class Part(Generic[T]):
    """What a part answered, or the code and the sentence of why it could not."""

    value: T | None
    code: str = ""
    message: str = ""


def attempt(read: Callable[[], T], name: str) -> Part[T]:
    """Reads one part of a page; a failure is told in its place and, where it is ours, in the log.

    A lost database and an address that asks wrongly are no part's own failure: the page says them.
    """
    try:
        return Part(read())
    except CrewletError as error:
        if error.code is ErrorCode.INVALID_QUERY:
            raise
        return Part(None, error.code.value, error.message)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        log.exception("part_failed", extra={"part": name})
        return Part(None, "internal", BROKEN)
