"""Bearer tokens: those of the environment for the first hour, stored ones for the years after.

A token of the environment (`CREWLET_API_TOKEN_<NAME>`) is a machine named `token:<name>` with
every grant. A stored token acts as its person, with fewer grants, or as a machine of its own.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db.models import Q

from crewlet.kernel import clock
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import ALL_GRANTS, Grant
from crewlet.kernel.errors import ErrorCode, Unauthenticated
from orgs.models.people import Credential, CredentialKind, PersonStage
from orgs.people.actors import grants_of, person_actor
from orgs.people.ceiling import cut
from orgs.people.codes import digest_of

SHORTEST = 26
# Never carried by a stored token: who has these must be sitting there (ORG-118).
NEVER_IN_A_TOKEN = frozenset({Grant.SECRETS_READ, Grant.PEOPLE_MANAGE})


def check_environment(tokens: Mapping[str, str] | None = None) -> None:
    """Passes when every token of the environment is long enough; refuses the start otherwise.

    Raises ImproperlyConfigured, which names the variable and never its value.
    """
    for name, value in (settings.CREWLET.api_tokens if tokens is None else tokens).items():
        if len(value) < SHORTEST:
            raise ImproperlyConfigured(
                f"CREWLET_API_TOKEN_{name.upper()} has {len(value)} characters and needs at least "
                f"{SHORTEST}. Make one with: python -c 'import secrets; "
                "print(secrets.token_urlsafe(32))'"
            )


def actor_of_token(value: str) -> Actor:
    """Returns who a bearer token acts as; raises `Unauthenticated` for one that is not known."""
    return _from_environment(value) or _stored(value)


def _from_environment(value: str) -> Actor | None:
    found = ""
    # Every token is compared, also after a hit: the time tells nothing about which one matched.
    for name, known in settings.CREWLET.api_tokens.items():
        if hmac.compare_digest(known.encode(), value.encode()):
            found = name
    if not found:
        return None
    login = f"token:{found.lower()}"
    return Actor(
        kind=ActorKind.MACHINE,
        login=login,
        name=f"Token {found.lower()}",
        grants=cut(ALL_GRANTS),
        credential=login,
    )


def _stored(value: str) -> Actor:
    now = clock.now()
    token = (
        Credential.objects.select_related("person__seat")
        .filter(Q(expires_at=None) | Q(expires_at__gt=now))
        .filter(kind=CredentialKind.TOKEN, digest=digest_of(value), revoked_at=None)
        .first()
    )
    if token is None:
        raise unknown_token()
    grants = cut(grants_of(token.grants) - NEVER_IN_A_TOKEN)
    Credential.objects.filter(id=token.id, used_at=None).update(used_at=now)
    if token.person is None:
        login = f"token:{token.label}"
        return Actor(
            kind=ActorKind.MACHINE,
            login=login,
            name=f"Token {token.label}",
            grants=grants,
            credential=login,
        )
    if token.person.stage != PersonStage.ACTIVE:
        raise unknown_token()
    person = token.person
    return person_actor(person, credential=f"pat:{person.login}/{token.label}", at_most=grants)


def unknown_token() -> Unauthenticated:
    """Returns the refusal of a token; the same whether it never was, expired or was revoked."""
    return Unauthenticated(
        "This token is not valid. Send a live one as `Authorization: Bearer <token>`, or leave "
        "the header out.",
        code=ErrorCode.INVALID_TOKEN,
    )
