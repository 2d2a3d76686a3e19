"""The tools of the company over REST: where each comes from and what it does."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors.rest import ErrorAnswer, ReadView
from crewlet.kernel.errors import CrewletError, ErrorCode
from integrations.mcp.standing import everything

_ANSWERS = ("yes", "no", "unknown")


class ToolShape(serializers.Serializer[Any]):
    """A tool. A hint that nobody gave is `unknown`; `overridden` names those of the company."""

    name = serializers.CharField(help_text="as a model calls it")
    # The serializer takes its fields out of the class, so these names hide nothing of its own.
    source = serializers.CharField(  # type: ignore[assignment]
        help_text="builtin, or mcp:<server>"
    )
    title = serializers.CharField(allow_blank=True)
    summary = serializers.CharField(allow_blank=True)
    read_only = serializers.ChoiceField(choices=_ANSWERS)  # type: ignore[assignment]
    destructive = serializers.ChoiceField(choices=_ANSWERS)
    idempotent = serializers.ChoiceField(choices=_ANSWERS)
    open_world = serializers.ChoiceField(choices=_ANSWERS)
    delivers = serializers.BooleanField(help_text="whether a success can count as a delivery")
    arguments = serializers.IntegerField()
    server_name = serializers.CharField(help_text="as its server spells it")
    overridden = serializers.ListField(child=serializers.CharField())


class ToolServerShape(serializers.Serializer[Any]):
    """A server of tools, as the company shares it or as one seat has it."""

    name = serializers.CharField()
    transport = serializers.ChoiceField(choices=["stdio", "http"])
    shared = serializers.BooleanField()
    where = serializers.CharField(allow_blank=True)
    seat = serializers.CharField(allow_null=True)
    state = serializers.ChoiceField(choices=["new", "ready", "failed", "unset"])
    error = serializers.CharField(allow_blank=True)
    warning = serializers.CharField(allow_blank=True)
    since = serializers.DateTimeField(allow_null=True)
    listed_at = serializers.DateTimeField(allow_null=True)
    asked = serializers.BooleanField(help_text="somebody wants it asked anew")


class ToolsShape(serializers.Serializer[Any]):
    """Every tool, ours first, and the servers that the others come from."""

    servers = ToolServerShape(many=True)
    tools = ToolShape(many=True)


class ToolsView(ReadView):
    """The tools."""

    @extend_schema(
        tags=["tools"],
        operation_id="list_tools",
        responses={200: ToolsShape, "4XX": ErrorAnswer},
    )
    def get(self, request: Request) -> Response:
        """Lists the tools of the company by source, and how the servers of tools stand."""
        for name in request.query_params:
            if name != "format":
                raise CrewletError(
                    f"There is no filter '{name}' here; this list takes none.",
                    code=ErrorCode.INVALID_QUERY,
                    field=name,
                )
        return Response(ToolsShape(everything()).data)
