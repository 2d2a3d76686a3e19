"""Routes by which a person is in charge of turns: steer, stop, answer, decide."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api import shapes
from agents.api.asked import ERRORS, only
from agents.queries import feed, turns, waits
from crewlet.doors.rest import (
    ActAnswer,
    ReadView,
    act_response,
    actor_of,
    json_body,
    operation_id,
)

ACCEPTED = 202


class WaitsShape(serializers.Serializer[Any]):
    """What waits on the caller."""

    waits = serializers.ListField(child=serializers.DictField())


class SteerView(ReadView):
    """A note to a running turn."""

    @extend_schema(
        tags=["turns"], request=OpenApiTypes.OBJECT, responses={202: ActAnswer, **ERRORS}
    )
    def post(self, request: Request, turn_id: UUID) -> Response:
        """Leaves a note: `{"note"}`; 202 while it waits to be read.

        409 for a request id of another note, five unread notes or a turn that reads none
        (`steer_unsupported`), 410 for a turn that has ended.
        """
        args = {"request_id": operation_id(request), **json_body(request), "turn": str(turn_id)}
        return act_response(request, "steer_turn", args, status=ACCEPTED)


class StopView(ReadView):
    """The end of a turn."""

    @extend_schema(
        tags=["turns"], request=OpenApiTypes.OBJECT, responses={200: ActAnswer, **ERRORS}
    )
    def post(self, request: Request, turn_id: UUID) -> Response:
        """Ends a running or parked turn: `{"reason"}`."""
        return act_response(request, "stop_turn", {**json_body(request), "turn": str(turn_id)})


class RerunView(ReadView):
    """Another go at a turn's mail."""

    @extend_schema(
        tags=["turns"], request=OpenApiTypes.OBJECT, responses={200: ActAnswer, **ERRORS}
    )
    def post(self, request: Request, turn_id: UUID) -> Response:
        """Puts the mail of a failed, stopped or skipped turn back into its mailbox."""
        return act_response(request, "rerun_turn", {**json_body(request), "turn": str(turn_id)})


class TurnEventsView(ReadView):
    """What was told of a turn."""

    @extend_schema(tags=["turns"], responses={200: shapes.EventsShape, **ERRORS})
    def get(self, request: Request, turn_id: UUID) -> Response:
        """Lists the newest 200 events of a turn, oldest first; `/events?turn=` has all of them."""
        only(request, frozenset())
        actor = actor_of(request)
        turns.turn_detail(actor, turn_id)
        told = feed.events(actor, turn=turn_id, limit=200)
        return Response({"events": told["events"][::-1], "next_cursor": told["next_cursor"]})


class WaitsView(ReadView):
    """What turns wait for people with."""

    @extend_schema(tags=["turns"], responses={200: WaitsShape, **ERRORS})
    def get(self, request: Request) -> Response:
        """Lists the questions and requests for leave that wait on the caller, oldest first."""
        only(request, frozenset())
        return Response({"waits": waits.inbox(actor_of(request))})


class AnswerView(ReadView):
    """The answer to a turn's question."""

    @extend_schema(
        tags=["turns"], request=OpenApiTypes.OBJECT, responses={200: ActAnswer, **ERRORS}
    )
    def post(self, request: Request, wait_id: UUID) -> Response:
        """Answers a question: `{"answer"}` or `{"choice"}`; 409 when it has one, 410 when late."""
        return act_response(request, "answer_wait", {**json_body(request), "wait": str(wait_id)})


class DecisionView(ReadView):
    """Leave for a call."""

    @extend_schema(
        tags=["turns"], request=OpenApiTypes.OBJECT, responses={200: ActAnswer, **ERRORS}
    )
    def post(self, request: Request, wait_id: UUID) -> Response:
        """Decides about a call: `{"decision": "approve|edit|deny", "arguments", "reason"}`."""
        return act_response(request, "decide_call", {**json_body(request), "wait": str(wait_id)})
