"""Keyset cursors of lists that run from new to old: an instant and an id, opaque to the caller."""

from __future__ import annotations

import base64
import binascii
import json
from datetime import datetime
from uuid import UUID

from crewlet.kernel.errors import CrewletError, ErrorCode


def write_cursor(at: datetime, ident: UUID | str) -> str:
    """Returns the cursor of the row after which the next page begins."""
    return base64.urlsafe_b64encode(json.dumps([at.isoformat(), str(ident)]).encode()).decode()


def read_cursor(text: str) -> tuple[datetime, UUID]:
    """Returns what a cursor holds; raises `invalid_query` for one that no list gave out."""
    try:
        at, ident = json.loads(base64.urlsafe_b64decode(text.encode()))
        return datetime.fromisoformat(at), UUID(ident)
    except (ValueError, TypeError, binascii.Error) as error:
        raise CrewletError(
            "The cursor is not one that this list gave out. Start without one.",
            code=ErrorCode.INVALID_QUERY,
            field="cursor",
        ) from error
