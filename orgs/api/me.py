"""Who the caller is and what waits on them, over REST."""

from __future__ import annotations

from typing import Any

from django.urls import path
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors.rest import ErrorAnswer, ReadView, actor_of
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import ErrorCode, Invalid
from orgs.inbox import PAGE, SCOPES, inbox_page
from orgs.queries.people import me, people_rows


class MeAnswer(serializers.Serializer[Any]):
    """The caller: `author` is the name on what they write, `credential` what proves them."""

    kind = serializers.ChoiceField(choices=["person", "seat", "machine", "engine"])
    login = serializers.CharField()
    name = serializers.CharField()
    handle = serializers.CharField(allow_null=True)
    author = serializers.CharField()
    credential = serializers.CharField()
    grants = serializers.ListField(child=serializers.CharField())


class InboxAnswer(serializers.Serializer[Any]):
    """One page of the caller's inbox. `next` is empty on the last one."""

    scope = serializers.ChoiceField(choices=SCOPES)
    decisions = serializers.ListField(child=serializers.DictField())
    days = serializers.ListField(child=serializers.DictField())
    next = serializers.CharField(allow_blank=True)
    unread = serializers.IntegerField()
    badge = serializers.IntegerField(allow_null=True)
    through = serializers.CharField(allow_blank=True)
    snooze = serializers.ListField(child=serializers.DictField())
    hint = serializers.CharField(allow_blank=True)


class PersonAnswer(serializers.Serializer[Any]):
    """Somebody who may sign in."""

    login = serializers.CharField()
    name = serializers.CharField()
    stage = serializers.ChoiceField(choices=["invited", "active", "suspended"])
    grants = serializers.ListField(child=serializers.CharField())
    seat = serializers.CharField(allow_null=True)
    has_password = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    last_seen_at = serializers.DateTimeField(allow_null=True)


class MeView(ReadView):
    """The caller."""

    @extend_schema(
        operation_id="read_me", responses={200: MeAnswer, 401: ErrorAnswer, 403: ErrorAnswer}
    )
    def get(self, request: Request) -> Response:
        """Returns who the caller is, as which seat they act, and what they may do."""
        return Response(MeAnswer(me(actor_of(request))).data)


class MyInboxView(ReadView):
    """The caller's inbox."""

    @extend_schema(
        operation_id="read_my_inbox",
        parameters=[
            OpenApiParameter("scope", str, enum=SCOPES, default="unread"),
            OpenApiParameter("cursor", str, description="`next` of the page before"),
            OpenApiParameter("limit", int, default=PAGE),
            OpenApiParameter("reason", str, many=True, description="only notices of these reasons"),
        ],
        responses={200: InboxAnswer, 400: ErrorAnswer, 401: ErrorAnswer, 403: ErrorAnswer},
    )
    def get(self, request: Request) -> Response:
        """Returns what waits on the caller, and what they were told by the company's days."""
        query = request.query_params
        found = inbox_page(
            actor_of(request),
            scope=query.get("scope", "unread"),
            cursor=query.get("cursor", ""),
            limit=_whole(query.get("limit", str(PAGE))),
            reasons=query.getlist("reason"),
        )
        return Response(InboxAnswer(found).data)


class PeopleView(ReadView):
    """Everybody who may sign in."""

    grant = Grant.PEOPLE_MANAGE

    @extend_schema(
        operation_id="list_people",
        responses={200: PersonAnswer(many=True), 401: ErrorAnswer, 403: ErrorAnswer},
    )
    def get(self, request: Request) -> Response:
        """Returns people by login, without anything that proves who they are."""
        return Response(PersonAnswer(people_rows(actor_of(request)), many=True).data)


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise Invalid(
            f"limit is '{text}'; give a whole number, 1 or more.",
            code=ErrorCode.INVALID_QUERY,
            field="limit",
        )
    return int(text)


me_routes = [
    path("me", MeView.as_view(), name="api-me"),
    path("me/inbox", MyInboxView.as_view(), name="api-me-inbox"),
    path("iam/people", PeopleView.as_view(), name="api-iam-people"),
]
