"""One tree of errors and one mapping to HTTP status and exit code.

The message of an error is written for the person or the model that reads it: it names the thing
and the remedy. Doors only call `body`, `status_of` and `exit_code_of`.
"""

from __future__ import annotations

from enum import StrEnum
from http import HTTPStatus
from typing import Any


class ErrorCode(StrEnum):
    """Every code that a door may answer with."""

    INVALID = "invalid"
    INVALID_BODY = "invalid_body"
    INVALID_QUERY = "invalid_query"
    VALIDATION_ERROR = "validation_error"
    SUMMARY_REQUIRED = "summary_required"
    INVALID_PATCH = "invalid_patch"
    IDENTITY_MISMATCH = "identity_mismatch"
    OP_ID_INVALID = "op_id_invalid"
    INVALID_TOKEN = "invalid_token"  # noqa: S105 - a code, not a credential
    UNAUTHENTICATED = "unauthenticated"
    FORBIDDEN = "forbidden"
    UNBOUND = "unbound"
    CSRF_ORIGIN = "csrf_origin"
    CONFIG_MANAGED = "config_managed"
    NOT_FOUND = "not_found"
    NO_ACTIVE_REVISION = "no_active_revision"
    NO_SUCH_ENTITY = "no_such_entity"
    METHOD_NOT_ALLOWED = "method_not_allowed"
    CONFLICT = "conflict"
    OPERATION_CONFLICT = "operation_conflict"
    REVISION_ADVANCED = "revision_advanced"
    ALREADY_ANSWERED = "already_answered"
    STEER_UNSUPPORTED = "steer_unsupported"
    PRECONDITION_FAILED = "precondition_failed"
    GONE = "gone"
    TOO_LARGE = "too_large"
    UNSUPPORTED_MEDIA = "unsupported_media"
    THROTTLED = "throttled"
    UNAVAILABLE = "unavailable"
    DRAINING = "draining"
    UNCONFIGURED = "unconfigured"
    FENCED = "fenced"
    INTERNAL = "internal"


_STATUS: dict[ErrorCode, int] = {
    ErrorCode.INVALID: 400,
    ErrorCode.INVALID_BODY: 400,
    ErrorCode.INVALID_QUERY: 400,
    ErrorCode.VALIDATION_ERROR: 400,
    ErrorCode.SUMMARY_REQUIRED: 400,
    ErrorCode.INVALID_PATCH: 400,
    ErrorCode.IDENTITY_MISMATCH: 400,
    ErrorCode.OP_ID_INVALID: 400,
    ErrorCode.INVALID_TOKEN: 401,
    ErrorCode.UNAUTHENTICATED: 401,
    ErrorCode.FORBIDDEN: 403,
    ErrorCode.UNBOUND: 403,
    ErrorCode.CSRF_ORIGIN: 403,
    ErrorCode.CONFIG_MANAGED: 403,
    ErrorCode.NOT_FOUND: 404,
    ErrorCode.NO_ACTIVE_REVISION: 404,
    ErrorCode.NO_SUCH_ENTITY: 404,
    ErrorCode.METHOD_NOT_ALLOWED: 405,
    ErrorCode.CONFLICT: 409,
    ErrorCode.OPERATION_CONFLICT: 409,
    ErrorCode.REVISION_ADVANCED: 409,
    ErrorCode.ALREADY_ANSWERED: 409,
    ErrorCode.STEER_UNSUPPORTED: 409,
    ErrorCode.GONE: 410,
    ErrorCode.PRECONDITION_FAILED: 412,
    ErrorCode.TOO_LARGE: 413,
    ErrorCode.UNSUPPORTED_MEDIA: 415,
    ErrorCode.THROTTLED: 429,
    ErrorCode.INTERNAL: 500,
    ErrorCode.UNAVAILABLE: 503,
    ErrorCode.DRAINING: 503,
    ErrorCode.UNCONFIGURED: 503,
    ErrorCode.FENCED: 409,
}

_DEFAULT_RETRY_AFTER = 5


class CrewletError(Exception):
    """Something was refused, and the message says what and what to do."""

    code = ErrorCode.INTERNAL

    def __init__(self, message: str, *, code: ErrorCode | None = None, **detail: Any) -> None:
        super().__init__(message)
        self.message = message
        self.detail = detail
        if code is not None:
            self.code = code

    @property
    def retry_after(self) -> int | None:
        """Seconds after which asking again makes sense; only 429 and 503 have it."""
        if status_of(self.code) not in (429, 503):
            return None
        return int(self.detail.get("retry_after", _DEFAULT_RETRY_AFTER))


class Invalid(CrewletError):
    """The input is wrong; `field` names the argument where one is to blame."""

    code = ErrorCode.INVALID


class Unauthenticated(CrewletError):
    """Nobody known asks."""

    code = ErrorCode.UNAUTHENTICATED


class Forbidden(CrewletError):
    """The actor may not; `grants` lists what would admit it."""

    code = ErrorCode.FORBIDDEN


class NotFound(CrewletError):
    """No such thing, or none that this actor may see."""

    code = ErrorCode.NOT_FOUND


class Conflict(CrewletError):
    """The thing moved on meanwhile; `current_version` says to where."""

    code = ErrorCode.CONFLICT


class Gone(CrewletError):
    """It was there and has ended."""

    code = ErrorCode.GONE


class Unavailable(CrewletError):
    """It cannot be done now; `retry_after` says when to ask again, in seconds."""

    code = ErrorCode.UNAVAILABLE


class Draining(Unavailable):
    """The engine is stopping: reads stay, new work is refused."""

    code = ErrorCode.DRAINING


class Fenced(CrewletError):
    """The writer no longer holds the seat; it stops where it is and writes nothing more."""

    code = ErrorCode.FENCED


def status_of(code: ErrorCode) -> int:
    """Returns the HTTP status of a code."""
    return _STATUS[code]


def exit_code_of(code: ErrorCode) -> int:
    """Returns the exit code of a command: 1 refused, 2 bad input, 75 try again later."""
    status = _STATUS[code]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        return 75
    return 2 if status in (HTTPStatus.BAD_REQUEST, HTTPStatus.NOT_FOUND) else 1


def body(error: CrewletError, request_id: str = "") -> dict[str, Any]:
    """Returns the one shape in which every API answers an error."""
    return {
        "error": error.code.value,
        "message": error.message,
        "detail": error.detail,
        "request_id": request_id,
    }
