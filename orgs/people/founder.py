"""The first person: whoever holds the founder's seat, with every grant.

The founder's seat is the human seat at the root of the chart. A seat gives no grant by itself, so
the grants are given here, once, while nobody else exists who could give them.
"""

from __future__ import annotations

from collections.abc import Iterable

from crewlet.kernel import clock
from crewlet.kernel.authority import ALL_GRANTS, Grant
from orgs.models.people import Person, PersonStage
from orgs.models.seats import Seat, SeatKind

FIRST_LOGIN = "first.person"
NAMELESS = "First person"


def founder_seat() -> Seat | None:
    """Returns the first human seat at the root that nobody holds, or None."""
    seats = Seat.objects.filter(
        kind=SeatKind.HUMAN, removed_at=None, declared_at_root=True, person=None
    )
    return seats.order_by("position", "handle").first()


def create(*, grants: Iterable[Grant]) -> Person:
    """Stores the first person, in the founder's seat where there is one."""
    seat = founder_seat()
    return Person.objects.create(
        login=f"{seat.handle}.founder" if seat else FIRST_LOGIN,
        name=seat.name if seat else NAMELESS,
        stage=PersonStage.INVITED,
        grants=sorted(grant.value for grant in grants),
        seat=seat,
        created_at=clock.now(),
    )


def founder() -> Person | None:
    """Returns the earliest person who holds every grant and may sign in, or None."""
    people = Person.objects.exclude(stage=PersonStage.SUSPENDED).filter(
        grants__contains=sorted(grant.value for grant in ALL_GRANTS)
    )
    return people.select_related("seat").order_by("created_at").first()


def ensure_founder() -> Person | None:
    """Returns the founder, created when nobody exists and the company has a founder's seat."""
    if Person.objects.exists():
        return founder()
    return create(grants=ALL_GRANTS) if founder_seat() else None
