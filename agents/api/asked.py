"""How a route reads its query: a key it does not know, a value it cannot read, are refused."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from crewlet.doors.rest import ErrorAnswer
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs import epochs

ERRORS = {"4XX": ErrorAnswer}


def parameter(
    name: str, kind: OpenApiTypes = OpenApiTypes.STR, words: str = ""
) -> OpenApiParameter:
    """Returns a query parameter as the schema shows it."""
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=words)


def only(request: Request, known: frozenset[str]) -> Mapping[str, str]:
    """Returns the query's values; refuses an unknown key by name instead of ignoring it."""
    given = {key: request.query_params[key] for key in request.query_params}
    for key in given:
        if key not in known | {"format"}:
            raise bad(
                key, f"There is no filter '{key}' here; there are {', '.join(sorted(known))}."
            )
    return given


def bad(field: str, words: str) -> CrewletError:
    """Returns the refusal of one parameter."""
    return CrewletError(words, code=ErrorCode.INVALID_QUERY, field=field)


def number(given: Mapping[str, str], name: str, default: int) -> int:
    """Returns a whole number from 1."""
    text = given.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise bad(name, f"{name} is to be a whole number from 1.")
    return int(text)


def flag(given: Mapping[str, str], name: str) -> bool | None:
    """Returns true, false or, when absent, None."""
    text = given.get(name, "")
    if text not in ("", "true", "false"):
        raise bad(name, f"{name} is true or false.")
    return None if not text else text == "true"


def one_of(given: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    """Returns one of the known words, or nothing when absent."""
    text = given.get(name, "")
    if text and text not in known:
        raise bad(name, f"{name} knows no '{text}'; it takes {', '.join(known)}.")
    return text


def instant(given: Mapping[str, str], name: str) -> datetime | None:
    """Returns an instant that names its zone."""
    text = given.get(name, "")
    if not text:
        return None
    found = parse_datetime(text)
    if found is None or found.tzinfo is None:
        raise bad(name, f"{name} is an instant with its zone, such as 2026-03-01T09:00:00Z.")
    return found


def seat_id(given: Mapping[str, str]) -> UUID | None:
    """Returns the id of a seat that is named by its handle."""
    handle = given.get("seat", "")
    if not handle:
        return None
    found = epochs.active().seat_ids.get(handle)
    if found is None:
        raise bad("seat", f"Nobody here has the handle '{handle}'.")
    return found


def uuid(given: Mapping[str, str], name: str) -> UUID | None:
    """Returns a UUID."""
    text = given.get(name, "")
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise bad(name, f"{name} is a UUID.") from error
