"""The route of what a seat wrote down for itself."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.asked import ERRORS, number, only, parameter
from agents.queries import diary
from crewlet.doors.rest import ReadView, actor_of


class NoteShape(serializers.Serializer[Any]):
    """One note of a diary, word for word."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=["long", "short"])
    content = serializers.CharField()
    at = serializers.DateTimeField()
    expires_at = serializers.DateTimeField(allow_null=True, help_text="null is kept for good")
    turn_id = serializers.UUIDField(allow_null=True)


class MemoryShape(serializers.Serializer[Any]):
    """A page of a seat's notes, newest first."""

    notes = NoteShape(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()


class MemoryView(ReadView):
    """The diary of one seat."""

    @extend_schema(
        tags=["agents"],
        parameters=[parameter("cursor"), parameter("limit", OpenApiTypes.INT, "at most 100")],
        responses={200: MemoryShape, **ERRORS},
    )
    def get(self, request: Request, handle: str) -> Response:
        """Lists the living notes that a seat wrote down for itself."""
        given = only(request, frozenset({"cursor", "limit"}))
        limit = number(given, "limit", 50)
        page = diary.notes(actor_of(request), handle, cursor=given.get("cursor", ""), limit=limit)
        return Response(page)
