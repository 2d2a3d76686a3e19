"""The company as it runs, over REST (ORG-19)."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors.rest import ErrorAnswer, ReadView, actor_of
from crewlet.kernel.authority import Grant
from orgs.queries.company import org_view


class OrgSeat(serializers.Serializer[Any]):
    """A seat of the chart; `chain` and `tool_sources` are there with `config:read` only."""

    handle = serializers.CharField()
    seat_id = serializers.UUIDField(allow_null=True)
    name = serializers.CharField()
    kind = serializers.ChoiceField(choices=["agent", "human"])
    unit = serializers.CharField(allow_null=True)
    goal = serializers.CharField(allow_blank=True)
    responsibilities = serializers.ListField(child=serializers.CharField())
    manages = serializers.ListField(child=serializers.CharField())
    managers = serializers.ListField(child=serializers.CharField())
    primary_manager = serializers.CharField(allow_null=True)
    leads = serializers.ListField(child=serializers.CharField())
    project = serializers.CharField(allow_null=True)
    availability = serializers.CharField(allow_blank=True)
    token_budget = serializers.DictField(child=serializers.IntegerField(allow_null=True))
    chain = serializers.DictField(required=False)
    tool_sources = serializers.ListField(child=serializers.CharField(), required=False)


class OrgUnit(serializers.Serializer[Any]):
    """A unit of the chart with the units inside it."""

    key = serializers.CharField()
    name = serializers.CharField()
    type = serializers.CharField()
    purpose = serializers.CharField(allow_blank=True)
    goals = serializers.ListField(child=serializers.CharField())
    lead = serializers.CharField(allow_null=True)
    lead_inherited = serializers.BooleanField()
    channel = serializers.CharField(allow_null=True)
    project = serializers.CharField(allow_null=True)
    space = serializers.CharField(allow_null=True)
    members = serializers.ListField(child=serializers.CharField())
    children = serializers.ListField(child=serializers.DictField())


class OrgProject(serializers.Serializer[Any]):
    """A project key that the document names, and whose home it is."""

    key = serializers.CharField()
    unit = serializers.CharField(allow_null=True)
    seat = serializers.CharField(allow_null=True)
    lead = serializers.CharField(allow_null=True)


class OrgAnswer(serializers.Serializer[Any]):
    """The charter, the clock and the tree."""

    epoch = serializers.IntegerField()
    revision_id = serializers.UUIDField()
    name = serializers.CharField()
    mission = serializers.CharField(allow_blank=True)
    vision = serializers.CharField(allow_blank=True)
    policies = serializers.ListField(child=serializers.CharField())
    timezone = serializers.CharField()
    token_budget = serializers.DictField(child=serializers.IntegerField(allow_null=True))
    units = OrgUnit(many=True)
    seats = OrgSeat(many=True)
    projects = OrgProject(many=True)
    cycles = serializers.ListField(child=serializers.ListField(child=serializers.CharField()))


class OrgView(ReadView):
    """The running company."""

    @extend_schema(operation_id="org", responses={200: OrgAnswer, 503: ErrorAnswer})
    def get(self, request: Request) -> Response:
        """Answers charter, clock, tree, leads, managers and ceilings; never contacts or keys."""
        actor = actor_of(request)
        view = org_view(with_config=Grant.CONFIG_READ in actor.grants)
        answer = Response(view)
        answer["Cache-Control"] = "no-store"
        answer["ETag"] = f'"{view["epoch"]}"'
        return answer
