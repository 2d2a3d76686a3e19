"""Cross-site requests: a browser says where a write comes from, and only our own pages may.

A cookie travels with requests that other sites make, a bearer header does not. So a write that
leans on the cookie must say `Origin`, and any write whose `Origin` is foreign is refused.
"""

from __future__ import annotations

from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest

from crewlet.kernel.errors import ErrorCode, Forbidden
from orgs.people.codes import bearer_of

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "TRACE"})


def check_write(request: HttpRequest) -> None:
    """Passes for a read, our own page's write, or a program's; raises `Forbidden` otherwise."""
    if request.method in SAFE_METHODS:
        return
    origin = request.headers.get("Origin")
    if origin is None and not leans_on_cookie(request):
        return
    require_same_origin(origin, request.get_host())


def leans_on_cookie(request: HttpRequest) -> bool:
    """Returns whether only the session cookie says who makes the request."""
    return (
        settings.SESSION_COOKIE_NAME in request.COOKIES
        and bearer_of(request.headers.get("Authorization")) is None
    )


def require_same_origin(origin: str | None, host: str) -> None:
    """Passes when `origin` is this host or the public address; raises `Forbidden` otherwise."""
    if origin is not None and _is_ours(origin, host):
        return
    came_from = f"from {origin}" if origin else "without saying from where (no Origin header)"
    raise Forbidden(
        f"This came {came_from}. Send it from a page of {settings.CREWLET.public_url}, or use a "
        "bearer token instead of the cookie.",
        code=ErrorCode.CSRF_ORIGIN,
        reason="csrf_origin",
    )


def _is_ours(origin: str, host: str) -> bool:
    public = urlsplit(settings.CREWLET.public_url.lower())
    given = urlsplit(origin.lower())
    if (given.scheme, given.netloc) == (public.scheme, public.netloc):
        return True
    # Behind https a page that came over http may have been written by somebody on the way.
    schemes = {"https"} if public.scheme == "https" else {"http", "https"}
    return given.scheme in schemes and bool(host) and given.netloc == host.lower()
