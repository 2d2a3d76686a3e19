"""One-time sign-in links: looking at one spends nothing, using one works once.

Spending is one conditional update; its row count says who won:

1. two browsers post the same code at the same time;
2. the second update waits for the first one's commit and then finds `used_at` set: zero rows;
3. zero rows is the one refusal, the same for a wrong, used, expired or revoked code.

Holds: for one link at most one session is ever started.
"""

from __future__ import annotations

from datetime import timedelta

from django.db import connection, transaction

from crewlet.kernel import clock
from crewlet.kernel.authority import ALL_GRANTS
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs.models.people import Credential, CredentialKind, Person, PersonStage
from orgs.people import founder
from orgs.people.codes import digest_of, new_code

LIFE = timedelta(hours=24)

_FIRST_PERSON_LOCK = "SELECT pg_advisory_xact_lock(hashtext('crewlet.first_person'))"


def refused() -> CrewletError:
    """Returns the one refusal of a link: it does not tell a used link from one that never was."""
    return CrewletError(
        "This sign-in link does not work. A link works once and for 24 hours; ask for a new one "
        "(`manage.py people invite <login>` prints it).",
        code=ErrorCode.GONE,
    )


def make(person: Person | None, *, created_by: str, label: str = "") -> str:
    """Stores a new link and returns its code, which nobody can read again.

    Without a person the link creates the first one, with every grant.
    """
    code = new_code()
    store(person, digest_of(code), created_by=created_by, label=label)
    return code


def store(person: Person | None, digest: str, *, created_by: str, label: str = "") -> Credential:
    """Stores a link by the digest of its code."""
    now = clock.now()
    return Credential.objects.create(
        kind=CredentialKind.LINK,
        person=person,
        label=label,
        digest=digest,
        created_at=now,
        created_by=created_by,
        expires_at=now + LIFE,
    )


def withdraw(person: Person | None, *, label: str | None = None) -> int:
    """Takes back the unused links of a person and returns how many there were."""
    links = Credential.objects.filter(
        kind=CredentialKind.LINK, person=person, used_at=None, revoked_at=None
    )
    if label is not None:
        links = links.filter(label=label)
    return links.update(revoked_at=clock.now())


def works(code: str) -> bool:
    """Returns whether a link would work now; spends nothing."""
    return Credential.objects.filter(
        kind=CredentialKind.LINK,
        digest=digest_of(code),
        used_at=None,
        revoked_at=None,
        expires_at__gt=clock.now(),
    ).exists()


def spend(code: str) -> Person:
    """Uses a link up and returns the person it signs in; raises `refused()` otherwise."""
    now, digest = clock.now(), digest_of(code)
    with transaction.atomic():
        won = Credential.objects.filter(
            kind=CredentialKind.LINK,
            digest=digest,
            used_at=None,
            revoked_at=None,
            expires_at__gt=now,
        ).update(used_at=now)
        if not won:
            raise refused()
        link = Credential.objects.select_related("person").get(digest=digest)
        person = link.person or _first_person()
        if link.person_id is None:
            Credential.objects.filter(id=link.id).update(person=person)
        # Suspending may run beside us: the row count says whether the person may still come in.
        may_enter = Person.objects.filter(
            id=person.id, stage__in=(PersonStage.INVITED, PersonStage.ACTIVE)
        ).update(stage=PersonStage.ACTIVE)
        if not may_enter:
            raise refused()
        person.refresh_from_db()
        return person


def _first_person() -> Person:
    # Two links without a person may be spent at once; the lock lets one of them be first.
    with connection.cursor() as cursor:
        cursor.execute(_FIRST_PERSON_LOCK)
    if Person.objects.exists():
        raise refused()
    return founder.create(grants=ALL_GRANTS)
