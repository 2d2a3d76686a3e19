"""Keyset cursors of lists that run from much to little: a number and an id."""

from __future__ import annotations

import base64
import binascii
import json
from uuid import UUID

from crewlet.kernel.errors import CrewletError, ErrorCode


def write_number_cursor(number: int, ident: UUID | str) -> str:
    """Returns the cursor of the row after which the next page begins."""
    return base64.urlsafe_b64encode(json.dumps([number, str(ident)]).encode()).decode()


def read_number_cursor(text: str) -> tuple[int, UUID]:
    """Returns what a cursor holds; raises `invalid_query` for one of another list or order."""
    try:
        number, ident = json.loads(base64.urlsafe_b64decode(text.encode()))
        return int(number), UUID(ident)
    except (ValueError, TypeError, binascii.Error) as error:
        raise CrewletError(
            "The cursor is not one that this order of the list gave out. Start without one.",
            code=ErrorCode.INVALID_QUERY,
            field="cursor",
        ) from error
