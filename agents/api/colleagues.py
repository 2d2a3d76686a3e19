"""The route of what agents ask one another."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.asked import ERRORS, number, one_of, only, parameter
from agents.queries import asks
from crewlet.doors.rest import ReadView, actor_of


class ColleagueAskShape(serializers.Serializer[Any]):
    """One ask of a colleague."""

    id = serializers.UUIDField()
    state = serializers.ChoiceField(asks.STATES)
    asker = serializers.CharField(help_text="the handle")
    target = serializers.CharField(help_text="the handle")
    brief = serializers.CharField()
    answer = serializers.CharField(allow_null=True)
    work_item = serializers.CharField(allow_null=True)
    asking_turn = serializers.UUIDField(allow_null=True)
    answering_turn = serializers.UUIDField(allow_null=True)
    opened_at = serializers.DateTimeField()
    closed_at = serializers.DateTimeField(allow_null=True)
    secs = serializers.IntegerField(help_text="how long it waited")


class ColleagueAsksShape(serializers.Serializer[Any]):
    """A page of asks, newest first."""

    asks = ColleagueAskShape(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()


class AsksView(ReadView):
    """What agents ask one another, newest first."""

    @extend_schema(
        tags=["agents"],
        parameters=[
            parameter("state", words=", ".join(asks.STATES)),
            parameter("seat", words="handle of either side"),
            parameter("cursor"),
            parameter("limit", OpenApiTypes.INT, f"at most {asks.MAX_PAGE}"),
        ],
        responses={200: ColleagueAsksShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists asks with their answers and both turns."""
        given = only(request, frozenset({"state", "seat", "cursor", "limit"}))
        page = asks.asks(
            actor_of(request),
            state=one_of(given, "state", asks.STATES),
            seat=given.get("seat", ""),
            cursor=given.get("cursor", ""),
            limit=number(given, "limit", 50),
        )
        return Response(page | {"asks": [_plain(row) for row in page["asks"]]})


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    asker, target, item = row.pop("from"), row.pop("to"), row.pop("item")
    return row | {
        "asker": asker["handle"],
        "target": target["handle"],
        "work_item": item["key"] if item else None,
    }
