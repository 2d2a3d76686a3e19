"""The route of search."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors.rest import ErrorAnswer, ReadView, act_response
from crewlet.kernel.errors import CrewletError, ErrorCode

_KEYS = ("q", "mode", "limit")


class FoundItemShape(serializers.Serializer[Any]):
    """One item that was found."""

    key = serializers.CharField()
    url = serializers.CharField()
    title = serializers.CharField()
    project = serializers.CharField()
    status = serializers.CharField()
    assignee = serializers.CharField(allow_null=True)
    snippet = serializers.CharField()
    score = serializers.FloatField()


class FoundShape(serializers.Serializer[Any]):
    """What a search found, and what its state means."""

    state = serializers.CharField(help_text="hits, nothing, building or failed")
    mode = serializers.CharField()
    note = serializers.CharField()
    items = FoundItemShape(many=True)


class SearchView(ReadView):
    """Work items by words."""

    @extend_schema(
        tags=["work"],
        parameters=[OpenApiParameter(key, OpenApiTypes.STR, required=key == "q") for key in _KEYS],
        responses={200: FoundShape, "4XX": OpenApiResponse(ErrorAnswer)},
    )
    def get(self, request: Request) -> Response:
        """Finds items by words in title, text and comments, best match first."""
        given = {key: str(value) for key, value in request.query_params.items() if key != "format"}
        unknown = sorted(set(given) - set(_KEYS))
        if unknown:
            raise CrewletError(
                f"{unknown[0]}: this address knows no such key; there are: {', '.join(_KEYS)}.",
                code=ErrorCode.INVALID_QUERY,
                field=unknown[0],
            )
        answer = act_response(request, "search_work_items", given)
        return Response(answer.data["result"])
