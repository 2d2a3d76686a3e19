"""The sign-in link that `up` prints: for the founder, or for a first person to be."""

from __future__ import annotations

from django.db import transaction

from orgs.models.people import Person
from orgs.people import founder, links

_LABEL = "printed"


def printed_path() -> str | None:
    """Returns the path of a fresh link (`/sign-in/link/…`); the one printed before stops working.

    It signs in the earliest person who holds every grant. While nobody exists, that person is
    created: at once when the company has a founder's seat, else when the link is used. None when
    people exist and none of them holds every grant: `people invite` is the way then.
    """
    with transaction.atomic():
        person = founder.ensure_founder()
        if person is None and Person.objects.exists():
            return None
        links.withdraw(person, label=_LABEL)
        code = links.make(person, created_by="engine:up", label=_LABEL)
    return path_of(code)


def path_of(code: str) -> str:
    """Returns the path at which a link's code is used."""
    return f"/sign-in/link/{code}"
