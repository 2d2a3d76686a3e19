"""How a page view and a fragment view are wrapped: who may come in, and what is answered again."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Unauthenticated

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]
# These two differ in every answer and say nothing.
_NOISE = re.compile(rb'name="(?:csrfmiddlewaretoken|op_id)" value="[^"]*"')


def page(view: View[P]) -> View[P]:
    """Wraps a page: GET only, signed-in people only, never kept by a cache."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if getattr(request, "actor", None) is None:
            return to_sign_in(request)
        response = view(request, *args, **kwargs)
        response["Cache-Control"] = "no-store"
        return response

    return require_safe(wrapped)


def fragment(view: View[P]) -> View[P]:
    """Wraps a part of a page: as `page`, with an ETag over what a reader would see."""

    @wraps(view)
    def wrapped(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if getattr(request, "actor", None) is None:
            raise Unauthenticated("Sign in to read this.")
        response = view(request, *args, **kwargs)
        etag = f'"{hashlib.sha256(_NOISE.sub(b"", response.content)).hexdigest()[:32]}"'
        if request.headers.get("If-None-Match") == etag:
            unchanged = HttpResponseNotModified()
            unchanged["ETag"] = etag
            return unchanged
        response["ETag"] = etag
        response["Cache-Control"] = "private, no-cache"
        return response

    return require_safe(wrapped)


def actor_of(request: HttpRequest) -> Actor:
    """Returns who asks; only for views inside `page` or `fragment`."""
    actor: Actor = request.actor  # type: ignore[attr-defined]
    return actor


def to_sign_in(request: HttpRequest) -> HttpResponse:
    """Sends a stranger to the sign-in page, which sends them back here."""
    return redirect(f"{settings.LOGIN_URL}?{urlencode({'next': request.get_full_path()})}")


def is_fragment(request: HttpRequest) -> bool:
    """Whether the answer lands inside a page that stays."""
    return bool(request.headers.get("HX-Request")) or request.path.startswith("/ui/")


def draw(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """Renders a template with the frame at hand."""
    return render(request, template, context)
