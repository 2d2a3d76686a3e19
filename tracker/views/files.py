"""Files on pages: download, the list of a project, and the upload of an item's page."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

from crewlet.console.pages import actor_of, draw, fragment, is_fragment, page, to_sign_in
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import CrewletError, Unauthenticated, status_of
from tracker.access import project_by_key
from tracker.queries import files as queries
from tracker.queries import projects as project_queries
from tracker.uploads import put_args, upload_args
from tracker.views.tabs import project_tabs

SHOWN = 200


@require_safe
def download(request: HttpRequest, ident: UUID) -> HttpResponseBase:
    """Sends a file, verified, to be saved; only a picture of a known type shows in the page."""
    if getattr(request, "actor", None) is None:
        return to_sign_in(request)
    require(actor_of(request), Grant.STATE_READ)
    name, content_type, stream = queries.download(ident)
    shown = "preview" in request.GET and content_type in queries.PREVIEWED
    response = FileResponse(
        stream,
        as_attachment=not shown,
        filename=name,
        content_type=content_type if shown else "application/octet-stream",
    )
    response["X-Content-Type-Options"] = "nosniff"
    response["Cache-Control"] = "private, no-store"
    return response


def project_page(request: HttpRequest, project: str) -> HttpResponse:
    """Draws the page of a project's files, and takes the file of its form."""
    return put(request, project) if request.method == "POST" else _listed(request, project)


@page
def _listed(request: HttpRequest, project: str) -> HttpResponse:
    context = files_of(actor_of(request), project, request.GET)
    return draw(request, "tracker/files.html", context)


@fragment
def project_files(request: HttpRequest, project: str) -> HttpResponse:
    """Draws the files of a project alone."""
    return draw(request, "tracker/_files.html", files_of(actor_of(request), project, request.GET))


def files_of(actor: Actor, project: str, query: Any) -> dict[str, Any]:
    """Returns what the list of a project's files shows, for the page and its fragment."""
    require(actor, Grant.STATE_READ)
    shown = project_queries.project(actor, project)
    found = project_by_key(project)
    after = query.get("after", "")
    rows, more = queries.project_files(found, after=after, limit=SHOWN)
    return {
        "project": shown,
        "tabs": project_tabs(found.key, "files"),
        "files": queries.file_rows(rows),
        "files_key": found.key,
        "files_more": rows[-1].path if more else "",
        "files_after": after,
    }


@require_POST
def attach(request: HttpRequest, key: str) -> HttpResponse:
    """Attaches the file of a form to an item, and goes back to it."""
    return _taken(
        request,
        "attach_file",
        lambda: upload_args(request.FILES, key, request.POST.get("comment", "")),
        back=f"/work/{key}",
    )


def put(request: HttpRequest, project: str) -> HttpResponse:
    """Writes the file of a form into a project, as a new one or the next version of one."""
    return _taken(
        request,
        "put_project_file",
        lambda: put_args(request.FILES, project, request.POST.get("path", "")),
        back=f"/work/{project}/files",
    )


def _taken(
    request: HttpRequest, name: str, args: Callable[[], dict[str, Any]], *, back: str
) -> HttpResponse:
    """Does what takes a file, whose bytes are read only for somebody who may write."""
    try:
        if getattr(request, "actor", None) is None:
            raise Unauthenticated("Sign in to send a file.")
        actor = actor_of(request)
        require(actor, Grant.WORK_WRITE)
        op_id = request.POST.get("op_id") or None
        result = perform(actor, name, args(), op_id=op_id, door=Door.FORM).unwrap()
    except CrewletError as error:
        return _refused(request, error, back)
    if is_fragment(request):
        response = HttpResponse(status=204)
        response["HX-Trigger"] = json.dumps({"cw:done": {"message": result.message}})
        return response
    response = HttpResponse(status=303)
    response["Location"] = back
    return response


def _refused(request: HttpRequest, error: CrewletError, back: str) -> HttpResponse:
    told = {"code": error.code.value, "message": error.message, "detail": error.detail}
    template = "ui/form_errors.html" if is_fragment(request) else "console/refused.html"
    context = {"error": told, "back": back}
    return render(request, template, context, status=status_of(error.code))
