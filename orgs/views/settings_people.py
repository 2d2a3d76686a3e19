"""Settings, people and access: who may come in, with what, and the tokens of programs.

A code and a token's value are made here and shown once, in the answer to the form: the actions
get their digests only.
"""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from crewlet.console.pages import actor_of, draw, to_sign_in
from crewlet.doors.form import form_args
from crewlet.kernel.actions import ACTIONS, Door, Result, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import ALL_GRANTS
from crewlet.kernel.errors import CrewletError, status_of
from orgs.people.codes import digest_of, new_code, new_token
from orgs.people.printed import path_of
from orgs.people.tokens import NEVER_IN_A_TOKEN
from orgs.queries.people import free_human_seats, people_rows, token_rows

PLACE = "/settings/people"


def people(actor: Actor, query: QueryDict) -> dict[str, Any]:
    """Returns everybody with what can be done about them, and the live tokens."""
    rows = people_rows(actor)
    managers = [row for row in rows if "people:manage" in row["grants"] and _may_enter(row)]
    grants = [
        {
            "name": grant.value,
            "mine": grant in actor.grants,
            "token": grant in actor.grants and grant not in NEVER_IN_A_TOKEN,
        }
        for grant in sorted(ALL_GRANTS)
    ]
    return {
        "people": [{**row, **_acts(row, actor, len(managers))} for row in rows],
        "tokens": token_rows(actor),
        "seats": free_human_seats(),
        "grants": grants,
        "logins": [row["login"] for row in rows],
    }


@require_POST
@never_cache
def invite(request: HttpRequest) -> HttpResponse:
    """Makes a one-time link, for a new person or one there is, and shows it this once."""
    if getattr(request, "actor", None) is None:
        return to_sign_in(request)
    code = new_code()
    login = request.POST.get("login", "").strip().lower()
    try:
        if request.POST.get("name"):
            _act(request, "create_person", "-person", form_args(_model("create_person"), request))
        told = _act(request, "invite_person", "", {"login": login, "digest": digest_of(code)})
    except CrewletError as error:
        return _refused(request, error)
    link = request.build_absolute_uri(path_of(code))
    words = f"{told.message} It is not sent to anybody: copy it and hand it over yourself."
    return _once(request, f"A sign-in link for {login}", link, words)


@require_POST
@never_cache
def make_token(request: HttpRequest) -> HttpResponse:
    """Makes a token and shows its value this once."""
    if getattr(request, "actor", None) is None:
        return to_sign_in(request)
    value = new_token()
    try:
        args = {**form_args(_model("create_token"), request), "digest": digest_of(value)}
        told = _act(request, "create_token", "", args)
    except CrewletError as error:
        return _refused(request, error)
    title = f"The token {request.POST.get('label', '')}"
    words = f"{told.message} Send it as Authorization: Bearer, and keep it where secrets are kept."
    return _once(request, title, value, words)


def _model(name: str) -> Any:
    return ACTIONS.named(name, Door.FORM).args


def _act(request: HttpRequest, name: str, part: str, args: dict[str, Any]) -> Result:
    op_id = request.POST.get("op_id", "")
    outcome = perform(
        actor_of(request), name, args, op_id=f"{op_id}{part}" if op_id else None, door=Door.FORM
    )
    return outcome.unwrap()


def _once(request: HttpRequest, title: str, value: str, words: str) -> HttpResponse:
    context = {"title": title, "value": value, "words": words, "back": PLACE}
    return draw(request, "orgs/shown_once.html", context)


def _refused(request: HttpRequest, error: CrewletError) -> HttpResponse:
    shown = {"code": error.code.value, "message": error.message, "detail": error.detail}
    context = {"error": shown, "back": PLACE}
    return render(request, "console/refused.html", context, status=status_of(error.code))


def _may_enter(row: dict[str, Any]) -> bool:
    return bool(row["stage"] != "suspended")


def _acts(row: dict[str, Any], actor: Actor, managers: int) -> dict[str, Any]:
    """Why each thing cannot be done to a person; empty where it can."""
    beyond = sorted(set(row["grants"]) - {grant.value for grant in actor.grants})
    lack = f"{row['name']} may do what you may not: {', '.join(beyond)}." if beyond else ""
    keep = ""
    if row["login"] == actor.login:
        keep = "Nobody suspends themselves."
    elif managers == 1 and "people:manage" in row["grants"]:
        keep = f"{row['name']} is the last who manages people."
    suspended = not _may_enter(row)
    invite_no = "Activate this person first." if suspended else lack
    return {"suspended": suspended, "no_invite": invite_no, "no_suspend": keep,
            "no_activate": lack}  # fmt: skip
