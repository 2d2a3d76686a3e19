"""The rail beside a page: one object read without leaving the list it stands in."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string

from crewlet.console.pages import actor_of, fragment
from crewlet.console.registries import PEEKS
from crewlet.kernel.errors import CrewletError, NotFound


@fragment
def peek(request: HttpRequest, kind: str, ident: str) -> HttpResponse:
    """Draws what stands in the rail for one object."""
    return HttpResponse(body_of(request, kind, ident))


def rail_of(request: HttpRequest) -> dict[str, Any] | None:
    """Returns the rail that the address asks for, or None; a failure stays inside the rail."""
    ref = request.GET.get("peek", "")
    if not ref or getattr(request, "actor", None) is None:
        return None
    kind, _, ident = ref.partition(":")
    try:
        body = body_of(request, kind, ident)
    except CrewletError as error:
        context = {
            "src": f"/ui/peek/{kind}/{ident}",
            "error": {"code": error.code.value, "message": error.message},
        }
        body = render_to_string("ui/peek_failed.html", context, request)
    query = request.GET.copy()
    del query["peek"]
    close = f"{request.path}?{query.urlencode()}" if query else request.path
    return {"ref": ref, "body": body, "close": close}


def body_of(request: HttpRequest, kind: str, ident: str) -> str:
    """Draws an object of a registered kind; raises `NotFound` for a kind that nobody peeks at."""
    found = PEEKS.get(kind)
    if found is None or not ident:
        raise NotFound(f"Nothing can be peeked at as '{kind}:{ident}'.")
    inner = dict(found.context(actor_of(request), ident))
    context = {
        "kind": kind,
        "ident": ident,
        "url": found.url(ident),
        "inner": render_to_string(found.template, inner, request),
    }
    return render_to_string("ui/peek_body.html", context, request)
