"""The first company over REST."""

from __future__ import annotations

from typing import Any, cast

from django.urls import path
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors.rest import ActAnswer, ErrorAnswer, ReadView, act_response, json_body
from crewlet.kernel.authority import Grant
from orgs.setup.actions import CreateCompany


class SetupCompanyView(ReadView):
    """The first company."""

    grant = Grant.CONFIG_WRITE

    @extend_schema(
        operation_id="setup_company",
        request=cast("Any", CreateCompany),
        responses={201: ActAnswer, 400: ErrorAnswer, 403: ErrorAnswer, 412: ErrorAnswer},
    )
    def post(self, request: Request) -> Response:
        """Creates the company from a template; 412 `already_configured` where there is one."""
        return act_response(request, "create_company", json_body(request), status=201)


setup_routes = [path("setup/company", SetupCompanyView.as_view(), name="api-setup-company")]
