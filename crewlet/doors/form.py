"""The form door: `POST /act/<action>` from a page, with or without htmx.

Fields are the action's arguments by name; nested ones by dots (`decision.options.0.label`), a
repeated name is a list. An empty optional field is absent; `null:<field>` sends an explicit null.
`op_id` makes a double press land once, `next` says where to go (`{ref}` in it becomes the place of
the first thing the action touched). A plain form is answered by a redirect or by a page with the
refusal; htmx by 204 and an event, or by the refusal as a fragment for the place beside the control.
"""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, get_args, get_origin

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST
from pydantic import BaseModel

from crewlet.kernel.actions import ACTIONS, Door, Result, perform
from crewlet.kernel.errors import CrewletError, Unauthenticated, status_of
from crewlet.kernel.refs import url_of

_CONTROL_FIELDS = frozenset({"csrfmiddlewaretoken", "op_id", "next", "toast"})
_NULL = "null:"
_FORM_INVALID = 422  # the page swaps the problem in beside the control


def _is_list(annotation: Any) -> bool:
    if get_origin(annotation) in (list, tuple, set, frozenset):
        return True
    return any(_is_list(part) for part in get_args(annotation))


def form_args(model: type[BaseModel], request: HttpRequest) -> dict[str, Any]:
    """Returns the posted fields shaped for the argument model.

    Unknown fields stay, so that the model refuses them by name.
    """
    args: dict[str, Any] = {}
    nested: dict[str, dict[str, Any]] = {}
    for name in request.POST:
        if name in _CONTROL_FIELDS:
            continue
        values = [str(value) for value in request.POST.getlist(name)]
        head, _, rest = name.partition(".")
        field = model.model_fields.get(head.removeprefix(_NULL))
        if head.startswith(_NULL):
            args[head.removeprefix(_NULL)] = None
        elif rest:
            if values[-1]:
                nested.setdefault(head, {})[rest] = values[-1]
        elif field is not None and _is_list(field.annotation):
            args[name] = [value for value in values if value]
        elif values[-1] or field is None or field.is_required():
            args[name] = values[-1]
    for head, leaves in nested.items():
        args[head] = _unfold(leaves)
    return args


def _unfold(leaves: dict[str, Any]) -> Any:
    """Turns `{"options.0.label": "A"}` into `{"options": [{"label": "A"}]}`."""
    grown: dict[str, Any] = {}
    deeper: dict[str, dict[str, Any]] = {}
    for name, value in leaves.items():
        head, _, rest = name.partition(".")
        if rest:
            deeper.setdefault(head, {})[rest] = value
        else:
            grown[head] = value
    for head, inner in deeper.items():
        grown[head] = _unfold(inner)
    if grown and all(name.isdecimal() for name in grown):
        return [grown[name] for name in sorted(grown, key=int)]
    return grown


@require_POST
def act(request: HttpRequest, name: str) -> HttpResponse:
    """Does the action that the form names, as the person who sent it."""
    try:
        actor = getattr(request, "actor", None)
        if actor is None:
            raise Unauthenticated("Sign in to do this.")
        entry = ACTIONS.named(name, Door.FORM)
        outcome = perform(
            actor,
            name,
            form_args(entry.args, request),
            op_id=request.POST.get("op_id") or None,
            door=Door.FORM,
        )
        return _done(request, outcome.unwrap())
    except CrewletError as error:
        return _refused(request, error)


def _done(request: HttpRequest, result: Result) -> HttpResponse:
    where = _place(request, result)
    if not request.headers.get("HX-Request"):
        response = HttpResponse(status=303)
        response["Location"] = where or request.headers.get("Referer", "/")
        return response
    told = {"message": result.message, "refs": list(result.refs), "redirect": where or None}
    response = HttpResponse(status=204)
    response["HX-Trigger"] = json.dumps({"cw:done": told})
    return response


def _place(request: HttpRequest, result: Result) -> str:
    """Returns the local path to go to, or an empty string to stay."""
    where = request.POST.get("next", "")
    if "{ref}" in where:
        where = where.replace("{ref}", url_of(result.refs[0]) if result.refs else "/")
    local = url_has_allowed_host_and_scheme(where, allowed_hosts={request.get_host()})
    return where if local else ""


def _refused(request: HttpRequest, error: CrewletError) -> HttpResponse:
    status = status_of(error.code)
    context = {
        "error": {"code": error.code.value, "message": error.message, "detail": error.detail},
        "back": request.headers.get("Referer", "/"),
    }
    if request.headers.get("HX-Request"):
        status = _FORM_INVALID if status == HTTPStatus.BAD_REQUEST else status
        response = render(request, "ui/form_errors.html", context, status=status)
    else:
        response = render(request, "console/refused.html", context, status=status)
    if error.retry_after is not None:
        response["Retry-After"] = str(error.retry_after)
    return response


urlpatterns = [path("act/<slug:name>", act, name="act")]
