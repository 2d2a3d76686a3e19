"""While there is no company, every page says so and shows the way; nothing looks merely empty."""

from __future__ import annotations

from collections.abc import Callable

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render

from crewlet.console.pages import actor_of
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import ErrorCode, status_of
from orgs import epochs

SETUP = "/setup"
# These say for themselves what they miss, or are needed to set a company up.
_ELSEWHERE = (
    "/setup", "/settings", "/account", "/sign-", "/act/", "/api/", "/admin/", "/operator/", "/ui/",
    "/static/", "/health", "/ready", "/metrics", "/ws/", "/webhooks/", "/kit", "/favicon",
)  # fmt: skip

Answer = Callable[[HttpRequest], HttpResponseBase]


class FirstRun:
    """Answers for every page until a company is there; then it asks the database nothing more."""

    sync_capable = True
    async_capable = False

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response
        self.configured = False

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Returns the view's answer, or the page that says "not configured"."""
        if self._concerns(request) and not self._is_configured():
            return _not_configured(request)
        return self.get_response(request)

    def _concerns(self, request: HttpRequest) -> bool:
        if self.configured or request.path.startswith(_ELSEWHERE):
            return False
        return getattr(request, "actor", None) is not None

    def _is_configured(self) -> bool:
        # A company is never taken away again, so yes is for good.
        self.configured = epochs.current() is not None
        return self.configured


def _not_configured(request: HttpRequest) -> HttpResponseBase:
    may = Grant.CONFIG_WRITE in actor_of(request).grants
    if may and request.path in ("/", "/home"):
        return redirect(SETUP)
    status = status_of(ErrorCode.UNCONFIGURED)
    return render(request, "orgs/not_configured.html", {"may": may}, status=status)
