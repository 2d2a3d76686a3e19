"""The audit over REST: who did what, by which door, and what was refused."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors.rest import ErrorAnswer, ReadView, actor_of
from crewlet.kernel import audit
from crewlet.kernel.actions import Door
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import CrewletError, ErrorCode

_KNOWN = (*audit.FILTERS, "cursor", "limit")


class AuditRow(serializers.Serializer[Any]):
    """One call of an action. `refused` is the code of the refusal, empty when it was done."""

    id = serializers.UUIDField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(allow_blank=True)
    actor_kind = serializers.ChoiceField(choices=["person", "seat", "machine", "engine"])
    credential = serializers.CharField(allow_blank=True)
    action = serializers.CharField()
    door = serializers.ChoiceField(choices=sorted(Door))
    refs = serializers.ListField(child=serializers.CharField())
    summary = serializers.CharField()
    operation = serializers.CharField(allow_blank=True)
    turn_id = serializers.UUIDField(allow_null=True)
    refused = serializers.CharField(allow_blank=True)


class AuditAnswer(serializers.Serializer[Any]):
    """One page of the audit. `next_cursor` is null on the last one."""

    entries = AuditRow(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class AuditView(ReadView):
    """What was done and refused, newest first."""

    grant = Grant.AUDIT_READ

    @extend_schema(
        operation_id="list_audit",
        parameters=[
            OpenApiParameter("actor", str, description="a handle or a login"),
            OpenApiParameter("action", str),
            OpenApiParameter("door", str, enum=sorted(Door)),
            OpenApiParameter("since", OpenApiTypes.DATETIME),
            OpenApiParameter("until", OpenApiTypes.DATETIME, description="not included"),
            OpenApiParameter("refused", bool, description="only refusals, or only what was done"),
            OpenApiParameter("cursor", str, description="`next_cursor` of the page before"),
            OpenApiParameter("limit", int, default=audit.PAGE),
        ],
        responses={200: AuditAnswer, 400: ErrorAnswer, 401: ErrorAnswer, 403: ErrorAnswer},
    )
    def get(self, request: Request) -> Response:
        """Lists calls of actions, the newest first, with actor, credential and door."""
        given = {name: request.query_params[name] for name in request.query_params}
        for name in given:
            if name not in (*_KNOWN, "format"):
                raise CrewletError(
                    f"There is no filter '{name}' here; there are {', '.join(_KNOWN)}.",
                    code=ErrorCode.INVALID_QUERY,
                    field=name,
                )
        found = audit.entries(
            actor_of(request),
            audit.filter_of(given),
            cursor=given.get("cursor", ""),
            limit=_limit(given.get("limit", "")),
        )
        return Response(AuditAnswer(found).data)


def _limit(text: str) -> int:
    if not text:
        return audit.PAGE
    if not text.isdecimal() or not 1 <= int(text) <= audit.MAX_PAGE:
        raise CrewletError(
            f"limit is a whole number from 1 to {audit.MAX_PAGE}.",
            code=ErrorCode.INVALID_QUERY,
            field="limit",
        )
    return int(text)


audit_routes = [path("audit", AuditView.as_view(), name="api-audit")]
