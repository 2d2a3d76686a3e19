"""Signing in and out, and one's own password and sessions. Everything works without JavaScript."""

from __future__ import annotations

from typing import cast

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import CrewletError, ErrorCode, status_of
from crewlet.kernel.ids import new_id
from orgs.access import own_person
from orgs.models.people import Person, PersonStage
from orgs.people import links, passwords, sessions, throttle
from orgs.queries.people import person_row, session_rows

ACCOUNT = "/account"

# The views that sign in are exempt from Django's token because nobody has a cookie yet: the
# middleware refuses a foreign `Origin`, and a browser sends one with every POST.


@csrf_exempt
@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    """Shows the sign-in form, or signs in by login and password and goes on to `next`."""
    onward = _onward(request)
    if request.method != "POST":
        if _actor(request) is not None:
            return HttpResponseRedirect(onward)
        return _form(request, onward)
    try:
        person = _by_password(request)
    except CrewletError as error:
        return _form(request, onward, error)
    sessions.start(request, person, source=throttle.source_of(request))
    return _go(onward)


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in_link(request: HttpRequest, code: str) -> HttpResponse:
    """Shows one button for a link that works and spends nothing; the button signs in, once."""
    if request.method != "POST":
        if links.works(code):
            return render(request, "orgs/sign_in_link.html")
        return _refused(request, links.refused())
    source = throttle.source_of(request)
    try:
        throttle.count_try(source)
        person = links.spend(code)
    except CrewletError as error:
        return _refused(request, error)
    throttle.forget(source)
    sessions.start(request, person, source=source)
    return _go(settings.LOGIN_REDIRECT_URL)


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    """Ends this browser's session."""
    sessions.leave(request)
    return _go(settings.LOGIN_URL)


@never_cache
@sensitive_post_parameters("password", "current")
@require_http_methods(["GET", "HEAD", "POST"])
def account(request: HttpRequest) -> HttpResponse:
    """Shows who is signed in, their sessions and the password form; sets a new password."""
    actor = _actor(request)
    if actor is None:
        return _go(f"{settings.LOGIN_URL}?next={ACCOUNT}")
    try:
        person = own_person(actor)
        if request.method != "POST":
            return _account(request, person)
        _set_password(request, actor, person)
    except CrewletError as error:
        if error.code is ErrorCode.UNBOUND:
            return _refused(request, error)
        return _account(request, person, error)
    person.refresh_from_db()
    sessions.start(request, person, source=throttle.source_of(request))
    return _go(f"{ACCOUNT}?set=1")


# -- parts ----------------------------------------------------------------------------------------


def _by_password(request: HttpRequest) -> Person:
    source = throttle.source_of(request)
    throttle.count_try(source)
    login = request.POST.get("login", "").strip().lower()
    password = request.POST.get("password", "")
    person = Person.objects.filter(login=login[:64]).first()
    proved = passwords.matches(person.password if person else "", password)
    if person is None or not proved or person.stage != PersonStage.ACTIVE:
        raise CrewletError(
            "That login and password do not go together, or may not sign in. Somebody who manages "
            "people can send you a sign-in link.",
            code=ErrorCode.UNAUTHENTICATED,
        )
    throttle.forget(source)
    return person


def _set_password(request: HttpRequest, actor: Actor, person: Person) -> None:
    # Who has a password proves it again: an open browser is not enough to lock its owner out.
    if person.password:
        source = throttle.source_of(request)
        throttle.count_try(source)
        if not passwords.matches(person.password, request.POST.get("current", "")):
            raise CrewletError("The current password is not right.", code=ErrorCode.FORBIDDEN)
        throttle.forget(source)
    encoded = passwords.encode(
        request.POST.get("password", ""), login=person.login, name=person.name
    )
    perform(actor, "set_password", {"encoded": encoded}, op_id=None, door=Door.FORM).unwrap()


def _form(request: HttpRequest, onward: str, error: CrewletError | None = None) -> HttpResponse:
    status = 200 if error is None else _form_status(error)
    context = {"next": onward, "error": error, "login": request.POST.get("login", "")}
    return _with_retry(render(request, "orgs/sign_in.html", context, status=status), error)


def _account(
    request: HttpRequest, person: Person, error: CrewletError | None = None
) -> HttpResponse:
    rows = [{**row, "op_id": str(new_id())} for row in session_rows(person)]
    context = {
        "person": person_row(person),
        "sessions": rows,
        "shortest": passwords.SHORTEST,
        "was_set": request.GET.get("set") == "1" and error is None,
        "error": error,
    }
    status = 200 if error is None else _form_status(error)
    return _with_retry(render(request, "orgs/sign_in_account.html", context, status=status), error)


def _refused(request: HttpRequest, error: CrewletError) -> HttpResponse:
    page = render(
        request, "orgs/sign_in_refused.html", {"error": error}, status=status_of(error.code)
    )
    return _with_retry(page, error)


def _with_retry(page: HttpResponse, error: CrewletError | None) -> HttpResponse:
    if error is not None and error.retry_after is not None:
        page["Retry-After"] = str(error.retry_after)
    return page


def _form_status(error: CrewletError) -> int:
    """Returns 422 for a form that comes back with its reason; throttling keeps its own status."""
    status = status_of(error.code)
    return status if status in (429, 503) else 422


def _onward(request: HttpRequest) -> str:
    wanted = request.POST.get("next") or request.GET.get("next") or ""
    allowed = url_has_allowed_host_and_scheme(
        wanted, allowed_hosts={request.get_host()}, require_https=request.is_secure()
    )
    return wanted if allowed and wanted.startswith("/") else settings.LOGIN_REDIRECT_URL


def _go(target: str) -> HttpResponse:
    return HttpResponse(status=303, headers={"Location": target})


def _actor(request: HttpRequest) -> Actor | None:
    return cast("Actor | None", getattr(request, "actor", None))
