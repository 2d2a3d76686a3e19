"""The nodes that carry the seats, over REST."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.live.nodes import fleet
from crewlet.doors.rest import ErrorAnswer, ReadView, actor_of
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import CrewletError, ErrorCode
from crewlet.ops.alarms import standing
from crewlet.ops.checks import Severity


class HeldSeatShape(serializers.Serializer[Any]):
    """A seat that a node holds, and the epoch of its lease."""

    handle = serializers.CharField()
    name = serializers.CharField()
    epoch = serializers.IntegerField()


class NodeShape(serializers.Serializer[Any]):
    """One incarnation of a worker process; a stale one missed its beat."""

    node = serializers.CharField()
    incarnation = serializers.CharField()
    state = serializers.ChoiceField(choices=["live", "draining", "stale"])
    roles = serializers.ListField(child=serializers.CharField())
    version = serializers.CharField(allow_blank=True)
    capacity = serializers.IntegerField()
    in_flight = serializers.IntegerField()
    started_at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField()
    seats = HeldSeatShape(many=True)


class FleetShape(serializers.Serializer[Any]):
    """Every node, and whether the whole engine stops."""

    nodes = NodeShape(many=True)
    draining = serializers.BooleanField()


class AlarmShape(serializers.Serializer[Any]):
    """A fact that a person must act on."""

    kind = serializers.CharField()
    severity = serializers.ChoiceField(choices=[severity.value for severity in Severity])
    measurement = serializers.CharField()
    remedy = serializers.CharField()
    since = serializers.DateTimeField()


class AlarmsShape(serializers.Serializer[Any]):
    """The active alarms, the oldest first."""

    alarms = AlarmShape(many=True)
    looked_at = serializers.DateTimeField(allow_null=True, help_text="when they were evaluated")
    known = serializers.BooleanField(
        help_text="false: nobody looked within a minute, so an empty list says nothing"
    )


class AlarmsView(ReadView):
    """What a person must act on."""

    @extend_schema(
        tags=["fleet"], operation_id="read_alarms", responses={200: AlarmsShape, "4XX": ErrorAnswer}
    )
    def get(self, request: Request) -> Response:
        """Lists the active alarms with what was measured, the remedy and since when."""
        require(actor_of(request), Grant.STATE_READ)
        _no_filters(request)
        return Response(AlarmsShape(standing()).data)


class FleetView(ReadView):
    """The nodes."""

    @extend_schema(
        tags=["fleet"], operation_id="read_fleet", responses={200: FleetShape, "4XX": ErrorAnswer}
    )
    def get(self, request: Request) -> Response:
        """Lists the nodes that have not ended, with the seats each holds."""
        _no_filters(request)
        return Response(FleetShape(fleet(actor_of(request))).data)


def _no_filters(request: Request) -> None:
    for name in request.query_params:
        if name != "format":
            raise CrewletError(
                f"There is no filter '{name}' here; this list takes none.",
                code=ErrorCode.INVALID_QUERY,
                field=name,
            )
