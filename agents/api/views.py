"""Routes of the runtime. They parse, call a query and answer."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import redis
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api import shapes
from agents.api.asked import (
    ERRORS,
    flag,
    instant,
    number,
    one_of,
    only,
    parameter,
    seat_id,
    uuid,
)
from agents.budgets import spend
from agents.live import seats
from agents.live.snapshot import seat_row, seat_rows
from agents.queries import feed, turns
from crewlet.doors.rest import ReadView, act_response, actor_of, json_body
from crewlet.kernel import clock, live
from crewlet.kernel.events import CATEGORIES, EventType
from crewlet.kernel.redis import client
from orgs import epochs


def turn_shape(row: dict[str, Any]) -> dict[str, Any]:
    """Returns a turn row as programs read it: the seat by its handle."""
    return row | {"seat": row["seat"]["handle"], "seat_name": row["seat"]["name"]}


class AgentsView(ReadView):
    """Every seat."""

    @extend_schema(tags=["agents"], responses={200: shapes.AgentsShape, **ERRORS})
    def get(self, request: Request) -> Response:
        """Lists every seat as it is now."""
        only(request, frozenset())
        return Response({"agents": seat_rows(actor_of(request))})


class AgentView(ReadView):
    """One seat."""

    @extend_schema(tags=["agents"], responses={200: shapes.AgentDetailShape, **ERRORS})
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
    {"seat", "outcome", "stage", "work_item", "work_key", "conversation", "failed", "since",
     "until", "sort", "cursor", "limit"}
)  # fmt: skip


_OUTCOMES = ("completed", "failed", "skipped", "stopped")
_STAGES = ("context", "phase", "parked", "done")


class TurnsView(ReadView):
    """Turns, newest first."""

    @extend_schema(
        tags=["turns"],
        parameters=[
            parameter("seat", words="handle"),
            parameter("outcome", words="completed, failed, skipped or stopped"),
            parameter("stage", words="context, phase, parked or done"),
            parameter("work_item", words="key of the item the turn is charged to"),
            parameter("work_key"),
            parameter("conversation"),
            parameter("failed", OpenApiTypes.BOOL),
            parameter("since", OpenApiTypes.DATETIME, "started at this instant or later"),
            parameter("until", OpenApiTypes.DATETIME, "started before this instant"),
            parameter("sort", words="-started (the default), started, -tokens or tokens"),
            parameter("cursor"),
            parameter("limit", OpenApiTypes.INT, "at most 100"),
        ],
        responses={200: shapes.TurnsShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists turns."""
        given = only(request, _TURN_FILTERS)
        page = turns.recent_turns(
            actor_of(request),
            seat=given.get("seat", ""),
            outcome=one_of(given, "outcome", _OUTCOMES),
            stage=one_of(given, "stage", _STAGES),
            item=given.get("work_item", ""),
            work_key=given.get("work_key", ""),
            conversation=given.get("conversation", ""),
            failed=flag(given, "failed"),
            since=instant(given, "since"),
            until=instant(given, "until"),
            sort=one_of(given, "sort", turns.SORTS) or turns.SORTS[0],
            cursor=given.get("cursor", ""),
            limit=number(given, "limit", 50),
        )
        return Response(
            {
                "turns": [turn_shape(row) for row in page["turns"]],
                "next_cursor": page["next"] or None,
                "total": page["total"],
            }
        )


_DETAIL = ("trigger", "constituents", "result", "correction", "node_lost", "stop_request", "notes",
           "waits", "attempts", "phases")  # fmt: skip


class TurnView(ReadView):
    """One turn."""

    @extend_schema(tags=["turns"], responses={200: shapes.TurnDetailShape, **ERRORS})
    def get(self, request: Request, turn_id: UUID) -> Response:
        """Shows a turn with its phases, rounds, calls, prompts and events."""
        actor = actor_of(request)
        found = turns.turn_detail(actor, turn_id)
        told = feed.events(actor, turn=turn_id, limit=200)["events"]
        detail = {name: found.pop(name) for name in _DETAIL}
        return Response({"turn": turn_shape(found), **detail, "events": told[::-1]})


_EVENT_FILTERS = frozenset(
    {"category", "type", "actor", "seat", "turn", "trace", "failed", "since", "until", "cursor",
     "limit"}
)  # fmt: skip


_CATEGORIES = tuple(sorted(set(CATEGORIES.values())))


class EventsView(ReadView):
    """Events, newest first."""

    @extend_schema(
        tags=["events"],
        parameters=[
            parameter("category"),
            parameter("type"),
            parameter("actor", words="who did it: a handle, a login, engine"),
            parameter("seat", words="handle of the seat it is about"),
            parameter("turn", OpenApiTypes.UUID),
            parameter("trace", words="what one cause set off: 32 hexadecimal digits"),
            parameter("failed", OpenApiTypes.BOOL),
            parameter("since", OpenApiTypes.DATETIME),
            parameter("until", OpenApiTypes.DATETIME),
            parameter("cursor"),
            parameter("limit", OpenApiTypes.INT, "at most 400"),
        ],
        responses={200: shapes.EventsShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists events without their payloads."""
        given = only(request, _EVENT_FILTERS)
        return Response(
            feed.events(
                actor_of(request),
                category=one_of(given, "category", _CATEGORIES),
                kind=one_of(given, "type", tuple(EventType)),
                author=given.get("actor", ""),
                seat=seat_id(given),
                turn=uuid(given, "turn"),
                trace=given.get("trace", ""),
                failed=flag(given, "failed"),
                since=instant(given, "since"),
                until=instant(given, "until"),
                cursor=given.get("cursor", ""),
                limit=number(given, "limit", 50),
            )
        )


class EventView(ReadView):
    """One event."""

    @extend_schema(tags=["events"], responses={200: shapes.EventDetailShape, **ERRORS})
    def get(self, request: Request, event_id: UUID) -> Response:
        """Shows an event with its payload."""
        return Response(feed.event(actor_of(request), event_id))


class BudgetsView(ReadView):
    """Budgets."""

    @extend_schema(tags=["budgets"], responses={200: shapes.BudgetsShape, **ERRORS})
    def get(self, request: Request) -> Response:
        """Lists the windows of the company and of every agent seat."""
        only(request, frozenset())
        return Response(spend.payload(epochs.active(), clock.now()))


class SnapshotView(ReadView):
    """The first frame of a socket, for programs that poll."""

    @extend_schema(tags=["stream"], responses={200: shapes.SnapshotShape, **ERRORS})
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
