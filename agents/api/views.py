"""Routes of the runtime. They parse, call a query and answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

import redis
from django.utils.dateparse import parse_datetime
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api import shapes
from agents.budgets import spend
from agents.live import seats
from agents.live.snapshot import seat_row, seat_rows
from agents.queries import feed, turns
from crewlet.doors.rest import ErrorAnswer, ReadView, act_response, actor_of, json_body
from crewlet.kernel import clock, live
from crewlet.kernel.errors import CrewletError, ErrorCode
from crewlet.kernel.events import CATEGORIES, EventType
from crewlet.kernel.redis import client
from orgs import epochs

_ERRORS = {"4XX": ErrorAnswer}


def _query(name: str, kind: Any = OpenApiTypes.STR, words: str = "") -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=words)


def _only(request: Request, known: frozenset[str]) -> Mapping[str, str]:
    """Returns the query's values; refuses an unknown key by name instead of ignoring it."""
    given = {key: request.query_params[key] for key in request.query_params}
    for key in given:
        if key not in known | {"format"}:
            raise _bad(
                key, f"There is no filter '{key}' here; there are {', '.join(sorted(known))}."
            )
    return given


def _bad(field: str, words: str) -> CrewletError:
    return CrewletError(words, code=ErrorCode.INVALID_QUERY, field=field)


def _number(given: Mapping[str, str], name: str, default: int) -> int:
    text = given.get(name, "")
    if not text:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise _bad(name, f"{name} is to be a whole number from 1.")
    return int(text)


def _flag(given: Mapping[str, str], name: str) -> bool | None:
    text = given.get(name, "")
    if text not in ("", "true", "false"):
        raise _bad(name, f"{name} is true or false.")
    return None if not text else text == "true"


def _one_of(given: Mapping[str, str], name: str, known: tuple[str, ...]) -> str:
    text = given.get(name, "")
    if text and text not in known:
        raise _bad(name, f"{name} knows no '{text}'; it takes {', '.join(known)}.")
    return text


def _instant(given: Mapping[str, str], name: str) -> Any:
    text = given.get(name, "")
    if not text:
        return None
    found = parse_datetime(text)
    if found is None or found.tzinfo is None:
        raise _bad(name, f"{name} is an instant with its zone, such as 2026-03-01T09:00:00Z.")
    return found


def turn_shape(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a turn row as programs read it: the seat by its handle."""
    return row | {"seat": row["seat"]["handle"], "seat_name": row["seat"]["name"]}


class AgentsView(ReadView):
    """Every seat."""

    @extend_schema(tags=["agents"], responses={200: shapes.AgentsShape, **_ERRORS})
    def get(self, request: Request) -> Response:
        """Lists every seat as it is now."""
        _only(request, frozenset())
        return Response({"agents": seat_rows(actor_of(request))})


class AgentView(ReadView):
    """One seat."""

    @extend_schema(tags=["agents"], responses={200: shapes.AgentDetailShape, **_ERRORS})
    def get(self, request: Request, handle: str) -> Response:
        """Shows a seat: state, charter, waiting mail, budgets and the figures of seven days."""
        actor = actor_of(request)
        about = seats.seat_about(actor, handle)
        return Response({"seat": seat_row(actor, handle), **about})


class PauseView(ReadView):
    """Pausing a seat."""

    @extend_schema(tags=["agents"], request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, handle: str) -> Response:
        """Pauses a seat: `{"reason", "stop_running"}`."""
        return act_response(request, "pause_seat", {**json_body(request), "seat": handle})


class ResumeView(ReadView):
    """Resuming a seat."""

    @extend_schema(tags=["agents"], request=OpenApiTypes.OBJECT, responses=OpenApiTypes.OBJECT)
    def post(self, request: Request, handle: str) -> Response:
        """Lets a paused seat go on."""
        return act_response(request, "resume_seat", {**json_body(request), "seat": handle})


_TURN_FILTERS = frozenset(
    {"seat", "outcome", "stage", "work_item", "work_key", "conversation", "failed", "cursor",
     "limit"}
)  # fmt: skip


_OUTCOMES = ("completed", "failed", "skipped", "stopped")
_STAGES = ("context", "phase", "parked", "done")


class TurnsView(ReadView):
    """Turns, newest first."""

    @extend_schema(
        tags=["turns"],
        parameters=[
            _query("seat", words="handle"),
            _query("outcome", words="completed, failed, skipped or stopped"),
            _query("stage", words="context, phase, parked or done"),
            _query("work_item", words="key of the item the turn is charged to"),
            _query("work_key"),
            _query("conversation"),
            _query("failed", OpenApiTypes.BOOL),
            _query("cursor"),
            _query("limit", OpenApiTypes.INT, "at most 100"),
        ],
        responses={200: shapes.TurnsShape, **_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists turns."""
        given = _only(request, _TURN_FILTERS)
        page = turns.recent_turns(
            actor_of(request),
            seat=given.get("seat", ""),
            outcome=_one_of(given, "outcome", _OUTCOMES),
            stage=_one_of(given, "stage", _STAGES),
            item=given.get("work_item", ""),
            work_key=given.get("work_key", ""),
            conversation=given.get("conversation", ""),
            failed=_flag(given, "failed"),
            cursor=given.get("cursor", ""),
            limit=_number(given, "limit", 50),
        )
        return Response(
            {
                "turns": [turn_shape(row) for row in page["turns"]],
                "next_cursor": page["next"] or None,
                "total": page["total"],
            }
        )


_DETAIL = ("trigger", "constituents", "result", "correction", "node_lost", "stop_request", "notes",
           "attempts", "phases")  # fmt: skip


class TurnView(ReadView):
    """One turn."""

    @extend_schema(tags=["turns"], responses={200: shapes.TurnDetailShape, **_ERRORS})
    def get(self, request: Request, turn_id: UUID) -> Response:
        """Shows a turn with its phases, rounds, calls, prompts and events."""
        actor = actor_of(request)
        found = turns.turn_detail(actor, turn_id)
        told = feed.events(actor, turn=turn_id, limit=400)["events"]
        detail = {name: found.pop(name) for name in _DETAIL}
        return Response({"turn": turn_shape(found), **detail, "events": told[::-1]})


_EVENT_FILTERS = frozenset(
    {"category", "type", "turn", "failed", "since", "until", "cursor", "limit"}
)


_CATEGORIES = tuple(sorted(set(CATEGORIES.values())))


class EventsView(ReadView):
    """Events, newest first."""

    @extend_schema(
        tags=["events"],
        parameters=[
            _query("category"),
            _query("type"),
            _query("turn", OpenApiTypes.UUID),
            _query("failed", OpenApiTypes.BOOL),
            _query("since", OpenApiTypes.DATETIME),
            _query("until", OpenApiTypes.DATETIME),
            _query("cursor"),
            _query("limit", OpenApiTypes.INT, "at most 400"),
        ],
        responses={200: shapes.EventsShape, **_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists events without their payloads."""
        given = _only(request, _EVENT_FILTERS)
        return Response(
            feed.events(
                actor_of(request),
                category=_one_of(given, "category", _CATEGORIES),
                kind=_one_of(given, "type", tuple(EventType)),
                turn=_uuid(given, "turn"),
                failed=_flag(given, "failed"),
                since=_instant(given, "since"),
                until=_instant(given, "until"),
                cursor=given.get("cursor", ""),
                limit=_number(given, "limit", 50),
            )
        )


def _uuid(given: Mapping[str, str], name: str) -> UUID | None:
    text = given.get(name, "")
    try:
        return UUID(text) if text else None
    except ValueError as error:
        raise _bad(name, f"{name} is a UUID.") from error


class EventView(ReadView):
    """One event."""

    @extend_schema(tags=["events"], responses={200: shapes.EventDetailShape, **_ERRORS})
    def get(self, request: Request, event_id: UUID) -> Response:
        """Shows an event with its payload."""
        return Response(feed.event(actor_of(request), event_id))


class BudgetsView(ReadView):
    """Budgets."""

    @extend_schema(tags=["budgets"], responses={200: shapes.BudgetsShape, **_ERRORS})
    def get(self, request: Request) -> Response:
        """Lists the windows of the company and of every agent seat."""
        _only(request, frozenset())
        return Response(spend.payload(epochs.active(), clock.now()))


class SnapshotView(ReadView):
    """The first frame of a socket, for programs that poll."""

    @extend_schema(tags=["stream"], responses={200: shapes.SnapshotShape, **_ERRORS})
    def get(self, request: Request) -> Response:
        """Shows every part of the live state, with the place in the ring it belongs to."""
        actor = actor_of(request)
        seq, boot_id = _ring_place()
        return Response({"seq": seq, "boot_id": boot_id, "data": live.snapshot(actor)})


def _ring_place() -> tuple[int, str]:
    """Read before the state, so that no frame falls between the two."""
    _, boot, counter = live.ring_keys()
    try:
        return int(client().get(counter) or 0), str(client().get(boot) or "")
    except redis.RedisError:
        return 0, ""
