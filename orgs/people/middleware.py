"""Gives every request its actor, its id, and a closed door where nobody is signed in.

In order: the request id; a cross-site write is refused (`csrf_origin`); the credential becomes
`request.actor` (a wrong token is 401 everywhere); without an actor only the open paths pass, a page
goes to sign-in and keeps its address, anything else is answered 401 as JSON.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import quote, urlsplit

import structlog
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import render

from crewlet.kernel.errors import CrewletError, Unauthenticated, body, status_of
from crewlet.kernel.ids import new_id
from orgs.people.auth import ActorUser
from orgs.people.origins import SAFE_METHODS, check_write, leans_on_cookie
from orgs.people.ways import actor_of_request

# Probes, the app shell and sign-in itself. Webhooks prove themselves by their own signature.
OPEN_PATHS = ("/health", "/ready", "/sign-in", "/favicon.ico", "/static/", "/webhooks/")
# Programs speak here: they get JSON, never a page to sign in on.
PROGRAM_PATHS = ("/api/", "/operator/", "/metrics", "/ws/")
_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")

Answer = Callable[[HttpRequest], HttpResponseBase]


class ActorMiddleware:
    """Sets `request.actor` (an Actor or None), `request.request_id` and `request.user`."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Returns the view's answer, or the refusal; both carry `X-Request-ID`."""
        request_id = _request_id(request)
        request.request_id = request_id  # type: ignore[attr-defined]
        request.actor = None  # type: ignore[attr-defined]
        with structlog.contextvars.bound_contextvars(request_id=request_id):
            try:
                response = self._admit(request) or self.get_response(request)
            except CrewletError as error:
                response = refusal(request, error)
        response["X-Request-ID"] = request_id
        return response

    def _admit(self, request: HttpRequest) -> HttpResponseBase | None:
        """Returns None for a request that may go on, or where it is sent instead."""
        request.user = AnonymousUser()
        if _under(request.path, ("/webhooks/",)):
            return None
        check_write(request)
        actor = None if _under(request.path, ("/static/",)) else actor_of_request(request)
        if actor is not None:
            request.actor = actor  # type: ignore[attr-defined]
            request.user = ActorUser(actor)  # type: ignore[assignment]
            if not leans_on_cookie(request):
                # A token is no cookie: no other site can make a browser send it.
                request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
            return None
        if _under(request.path, OPEN_PATHS):
            return None
        return sign_in_instead(request)


def sign_in_instead(request: HttpRequest) -> HttpResponse:
    """Returns what somebody unknown gets: the sign-in page with the way back, or a 401."""
    if _under(request.path, PROGRAM_PATHS):
        raise Unauthenticated("Sign in, or send a token as `Authorization: Bearer <token>`.")
    target = f"{settings.LOGIN_URL}?next={quote(_way_back(request))}"
    if request.headers.get("HX-Request"):
        # htmx follows a redirect by itself and would draw the page inside this one.
        return HttpResponse(status=HTTPStatus.UNAUTHORIZED, headers={"HX-Redirect": target})
    return HttpResponse(status=HTTPStatus.SEE_OTHER, headers={"Location": target})


def refusal(request: HttpRequest, error: CrewletError) -> HttpResponse:
    """Returns an error as JSON for a program and as a page for a person."""
    status = status_of(error.code)
    if _wants_page(request):
        response = render(request, "orgs/sign_in_refused.html", {"error": error}, status=status)
    else:
        response = JsonResponse(body(error, getattr(request, "request_id", "")), status=status)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = 'Bearer realm="crewlet"'
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response


def _way_back(request: HttpRequest) -> str:
    """Returns the page to open after sign-in: this one, or the one that a form was sent from."""
    if request.method in SAFE_METHODS and not request.headers.get("HX-Request"):
        return request.get_full_path()
    came_from = urlsplit(
        request.headers.get("HX-Current-URL") or request.headers.get("Referer") or "/"
    )
    return f"{came_from.path or '/'}{'?' + came_from.query if came_from.query else ''}"


def _wants_page(request: HttpRequest) -> bool:
    if _under(request.path, PROGRAM_PATHS) or request.headers.get("HX-Request"):
        return False
    return "text/html" in request.headers.get("Accept", "")


def _under(path: str, prefixes: tuple[str, ...]) -> bool:
    return any(
        path.startswith(prefix) if prefix.endswith("/") else f"{path}/".startswith(f"{prefix}/")
        for prefix in prefixes
    )


def _request_id(request: HttpRequest) -> str:
    given = request.headers.get("X-Request-ID", "")
    return given if _REQUEST_ID.fullmatch(given) else new_id().hex
