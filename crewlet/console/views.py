"""The pages that belong to no app: Home, Settings, the palette's answers, the kit, the errors."""

from __future__ import annotations

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from crewlet.console import kit as kit_page
from crewlet.console.frame import frame_of
from crewlet.console.pages import actor_of, draw, fragment, is_fragment, page
from crewlet.console.readings import one_reading
from crewlet.console.regions import attempt
from crewlet.console.registries import HOME_LINES, HOME_PANELS


@page
def home(request: HttpRequest) -> HttpResponse:
    """Draws Home: one sentence of fact, then the panels that apps put there."""
    ordered = sorted(HOME_PANELS.items(), key=lambda entry: entry[1].order)
    with one_reading():
        panels = [
            {"column": panel.column, "html": _panel_or_why(request, key)} for key, panel in ordered
        ]
        line = _line(request)
    return draw(request, "console/home.html", {"panels": panels, "line": line})


@fragment
def home_line(request: HttpRequest) -> HttpResponse:
    """Draws the sentence alone."""
    return draw(request, "console/_home_line.html", {"line": _line(request)})


@fragment
def home_panel(request: HttpRequest, key: str) -> HttpResponse:
    """Draws one panel alone, as it stands on the page."""
    if key not in HOME_PANELS:
        raise Http404(f"Home has no panel '{key}'.")
    return HttpResponse(_panel_html(request, key))


@fragment
def sidebar(request: HttpRequest) -> HttpResponse:
    """Draws the sidebar's rows again, for the page that `path` names."""
    request.path = request.GET.get("path", "/")
    return draw(request, "ui/sidebar_nav.html", {})


@fragment
def health(request: HttpRequest) -> HttpResponse:
    """Draws the line that says how the engine does."""
    return draw(request, "ui/health.html", {})


@page
def kit(request: HttpRequest) -> HttpResponse:
    """Draws every part of the site once, for eyes and for checks."""
    return draw(request, "console/kit.html", kit_page.samples(request.GET))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Names the address that leads nowhere."""
    words = f"Nothing is at {request.path}."
    return _lost(request, 404, "not_found", words)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:
    """Says that the request was refused."""
    words = "This was refused. Reload the page and try again; sign in again if it stays so."
    return _lost(request, 403, "forbidden", words)


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Says that the request could not be read."""
    return _lost(request, 400, "invalid", "This request could not be read.")


def broken(request: HttpRequest) -> HttpResponse:
    """Says that something of ours broke. Draws no frame: the frame may be what broke."""
    return render(request, "console/broken.html", status=500)


def _lost(request: HttpRequest, status: int, code: str, message: str) -> HttpResponse:
    error = {"code": code, "message": message, "detail": {}}
    context = {"error": error, "status": status, "path": request.path}
    template = "ui/failed.html" if is_fragment(request) else "console/lost.html"
    return render(request, template, context, status=status)


def _line(request: HttpRequest) -> str:
    """Returns the sentence of Home; while the engine has trouble, that is the sentence."""
    health = frame_of(request).health
    if health["state"] != "ok":
        return f"{health['title']}. {health['detail']}"
    actor = actor_of(request)
    return " ".join(filter(None, (say(actor) for say in HOME_LINES.values())))


def _panel_html(request: HttpRequest, key: str) -> str:
    panel = HOME_PANELS[key]
    found = dict(panel.context(actor_of(request), request.GET))
    return _framed(request, key, render_to_string(panel.template, found, request))


def _panel_or_why(request: HttpRequest, key: str) -> str:
    """Draws a panel, or in its place why it could not be read."""
    found = attempt(lambda: _panel_html(request, key), f"home:{key}")
    if found.value is not None:
        return found.value
    error = {"code": found.code, "message": found.message}
    return _framed(request, key, render_to_string("ui/part_failed.html", {"error": error}, request))


def _framed(request: HttpRequest, key: str, body: str) -> str:
    context = {
        "key": key,
        "panel": HOME_PANELS[key],
        "body": body,
        "query": request.GET.urlencode(),
    }
    return render_to_string("console/_home_panel.html", context, request)
