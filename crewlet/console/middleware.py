"""Turns what a page view raises into a page that says what it is and what to do."""

from __future__ import annotations

import logging

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.deprecation import MiddlewareMixin

from crewlet.console.pages import is_fragment, to_sign_in
from crewlet.kernel.errors import CrewletError, ErrorCode, status_of

log = logging.getLogger(__name__)
_OTHER_DOORS = ("/api/", "/act/", "/admin/", "/operator/")
_AWAY_SECONDS = "5"


class PageErrors(MiddlewareMixin):
    """Answers kernel errors and a lost database for pages and fragments only."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Returns the page for an error it knows, or None to let it pass."""
        if request.path.startswith(_OTHER_DOORS):
            return None
        if isinstance(error, CrewletError):
            return refusal(request, error)
        if isinstance(error, OperationalError | InterfaceError):
            log.error("page_database_away", extra={"path": request.path, "error": str(error)})
            return database_away(request)
        return None


def refusal(request: HttpRequest, error: CrewletError) -> HttpResponse:
    """Draws a kernel error: sign-in for a stranger, else the sentence with its code."""
    status = status_of(error.code)
    if error.code is ErrorCode.UNAUTHENTICATED and not is_fragment(request):
        return to_sign_in(request)
    context = {
        "error": {"code": error.code.value, "message": error.message, "detail": error.detail},
        "status": status,
        "path": request.path,
    }
    template = "ui/failed.html" if is_fragment(request) else "console/lost.html"
    return render(request, template, context, status=status)


def database_away(request: HttpRequest) -> HttpResponse:
    """Says that the database did not answer, without asking it anything."""
    template = "ui/failed.html" if is_fragment(request) else "console/away.html"
    error = {
        "code": "database",
        "message": "The database did not answer. This says nothing about what is in it.",
        "detail": {},
    }
    response = render(request, template, {"error": error, "path": request.path}, status=503)
    response["Retry-After"] = _AWAY_SECONDS
    return response
