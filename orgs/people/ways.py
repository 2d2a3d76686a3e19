"""The ways in: a request or a socket's scope becomes an actor, or says why it does not.

When a bearer header and a cookie both come, the header decides: a wrong token is refused even
where the cookie would have done, so that a program never acts as a person by accident.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.db import OperationalError
from django.http import HttpRequest, parse_cookie

from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Unavailable
from orgs.people import sessions
from orgs.people.actors import session_actor
from orgs.people.codes import bearer_of
from orgs.people.origins import require_same_origin
from orgs.people.tokens import actor_of_token


def actor_of_request(request: HttpRequest) -> Actor | None:
    """Returns who makes a request, or None for nobody.

    Raises `Unauthenticated` for a wrong token and `Unavailable` when the database cannot say.
    """
    try:
        token = bearer_of(request.headers.get("Authorization"))
        if token is not None:
            return actor_of_token(token)
        record = sessions.record_of(request.session)
        if record is None:
            return None
        sessions.touch(request, record)
        return session_actor(record.person)
    except OperationalError as error:
        raise _cannot_tell() from error


def actor_of_scope(scope: Mapping[str, Any]) -> Actor | None:
    """Returns who opens a socket, or None; blocking, so call it in a thread.

    A cookie counts only with our own Origin (raises `Forbidden` otherwise); a bearer header needs
    none. Asking again with the same scope re-checks a socket that is already open.
    """
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]
    }
    try:
        token = bearer_of(headers.get("authorization"))
        if token is not None:
            return actor_of_token(token)
        key = parse_cookie(headers.get("cookie", "")).get(settings.SESSION_COOKIE_NAME)
        if not key:
            return None
        require_same_origin(headers.get("origin"), headers.get("host", ""))
        record = sessions.record_of(_session(key))
        return session_actor(record.person) if record else None
    except OperationalError as error:
        raise _cannot_tell() from error


def _session(key: str) -> SessionBase:
    store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
    return store(key)


def _cannot_tell() -> Unavailable:
    return Unavailable(
        "Who you are cannot be checked right now because the database does not answer. Try again "
        "in a few seconds.",
        reason="database",
    )
