"""The pages of signing in beside three views that stand for the rest of the product."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import include, path
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors import form, rest
from crewlet.kernel.authority import Grant
from orgs.queries.people import me


def page(request: HttpRequest) -> HttpResponse:
    return JsonResponse(me(request.actor))  # type: ignore[attr-defined]


def open_view(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


class WhoAmI(rest.ReadView):
    """Answers with the caller; asks for `audit:read`."""

    grant = Grant.AUDIT_READ

    def get(self, request: Request) -> Response:
        return Response(me(rest.actor_of(request)))

    def post(self, request: Request) -> Response:
        return Response({"login": rest.actor_of(request).login})


def webhook(request: HttpRequest, **_: Any) -> HttpResponse:
    return HttpResponse("taken")


urlpatterns = [
    path("", include("orgs.people.urls")),
    path("", include(form.urlpatterns)),
    path("", page),
    path("work/board", page),
    path("health", open_view),
    path("admin/", admin.site.urls),
    path("webhooks/x", webhook),
    path("api/v1/whoami", WhoAmI.as_view()),
    path("api/v1/", include("orgs.api.urls")),
    path("api/v1/", include(list(rest.act_urls()))),
]
