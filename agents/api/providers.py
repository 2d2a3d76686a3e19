"""The company's models over REST: how they stand, and a test."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.llm.standing import providers
from crewlet.doors.rest import ErrorAnswer, ReadView, act_response
from crewlet.kernel.errors import CrewletError, ErrorCode


class ProviderKeyShape(serializers.Serializer[Any]):
    """A key by the first 12 hex digits of its SHA-256; the key itself is never told."""

    digest = serializers.CharField(allow_blank=True)
    variable = serializers.CharField(allow_blank=True)
    in_flight = serializers.IntegerField()
    cooling_seconds = serializers.IntegerField(help_text="0: it may be asked")
    cooled_until = serializers.DateTimeField(allow_null=True)
    reason = serializers.CharField(allow_blank=True)
    last_error = serializers.CharField(allow_blank=True)
    advice = serializers.CharField(allow_blank=True, help_text="what to do about it")


class ProviderTestShape(serializers.Serializer[Any]):
    """The last test of a provider."""

    state = serializers.ChoiceField(choices=["pending", "running", "done"])
    asked_by = serializers.CharField()
    asked_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    ok = serializers.BooleanField()
    said = serializers.CharField(allow_blank=True)
    ms = serializers.IntegerField(allow_null=True)


class ProviderShape(serializers.Serializer[Any]):
    """An entry of `providers.llm`; `unset` cannot be asked, `problem` says why."""

    key = serializers.CharField()
    type = serializers.CharField()
    model = serializers.CharField(allow_blank=True)
    base_url = serializers.CharField(allow_blank=True)
    state = serializers.ChoiceField(choices=["serving", "cooling", "unset"])
    problem = serializers.CharField(allow_blank=True)
    advice = serializers.CharField(allow_blank=True, help_text="what to do about the problem")
    keys = ProviderKeyShape(many=True)
    keys_missing = serializers.ListField(child=serializers.CharField())
    test = ProviderTestShape(allow_null=True)


class ProvidersShape(serializers.Serializer[Any]):
    """Every model of the company, in the order of its document."""

    providers = ProviderShape(many=True)


class ProvidersView(ReadView):
    """The models."""

    @extend_schema(
        tags=["providers"],
        operation_id="list_providers",
        responses={200: ProvidersShape, "4XX": ErrorAnswer},
    )
    def get(self, request: Request) -> Response:
        """Lists the company's models, their keys by digest, what cools, and the last tests."""
        for name in request.query_params:
            if name != "format":
                raise CrewletError(
                    f"There is no filter '{name}' here; this list takes none.",
                    code=ErrorCode.INVALID_QUERY,
                    field=name,
                )
        return Response(ProvidersShape({"providers": providers()}).data)


class ProviderTestView(ReadView):
    """Testing a model."""

    @extend_schema(
        tags=["providers"],
        operation_id="request_provider_test",
        request=None,
        responses=OpenApiTypes.OBJECT,
    )
    def post(self, request: Request, key: str) -> Response:
        """Asks a worker to call the provider once; the result appears in the list."""
        return act_response(request, "test_provider", {"provider": key})
