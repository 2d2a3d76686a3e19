"""Two at once: real connections, a barrier, and one winner whoever is faster."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from threading import Barrier
from typing import TypeVar
from uuid import UUID

import pytest
from django.db import IntegrityError, connection, connections, transaction

from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs import epochs, revisions
from orgs.models.company import Activation, ConfigRevision
from orgs.models.seats import Seat
from orgs.revisions import Applied
from tests.orgs.companies import TWO_TEAMS, without

pytestmark = pytest.mark.django_db(transaction=True)
ACTOR = engine_actor("test")
T = TypeVar("T")


def together(*jobs: Callable[[], T]) -> list[T | CrewletError]:
    """Runs each job in a thread and connection of its own, started at one moment."""
    barrier = Barrier(len(jobs))

    def started(job: Callable[[], T]) -> T | CrewletError:
        try:
            barrier.wait(timeout=10)
            return job()
        except CrewletError as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(started, jobs))


@pytest.mark.covers("ORG-1")
def test_of_four_first_imports_one_creates_the_company() -> None:

    def create() -> Applied:
        return revisions.apply_document(ACTOR, TWO_TEAMS, summary="First", create_only=True)

    ends = together(create, create, create, create)
    won = [end for end in ends if isinstance(end, Applied)]
    lost = [end for end in ends if isinstance(end, CrewletError)]
    assert (len(won), len(lost)) == (1, 3)
    assert {error.code for error in lost} == {ErrorCode.PRECONDITION_FAILED}
    assert Activation.objects.count() == ConfigRevision.objects.count() == 1
    assert Seat.objects.filter(handle="baker").count() == 1


@pytest.mark.covers("ORG-51")
def test_of_two_saves_on_one_base_one_is_live_and_the_other_is_kept() -> None:
    base = revisions.apply_document(ACTOR, TWO_TEAMS, summary="Base").revision_id

    def save(text: str, base: UUID | None = base) -> Callable[[], Applied]:
        return lambda: revisions.apply_document(ACTOR, text, summary="Mine", base=base)

    ends = together(save(without(TWO_TEAMS, "Seller")), save(without(TWO_TEAMS, "channel: ovens")))
    applied = [end for end in ends if isinstance(end, Applied)]
    live = [end for end in applied if end.epoch is not None]
    kept = [end for end in applied if end.epoch is None]
    assert (len(live), len(kept)) == (1, 1)
    assert kept[0].advanced_to == live[0].revision_id
    assert epochs.active().revision_id == live[0].revision_id
    assert ConfigRevision.objects.count() == 3


@pytest.mark.covers("ORG-50")
def test_epochs_follow_one_another_however_many_apply() -> None:
    revisions.apply_document(ACTOR, TWO_TEAMS, summary="Base")

    def apply() -> Applied:
        return revisions.apply_document(ACTOR, TWO_TEAMS, summary="Again")

    together(*[apply] * 5)
    rows = list(Activation.objects.select_related("revision").order_by("id"))
    assert len(rows) == 6
    for earlier, later in pairwise(rows):
        assert later.revision.parent_id == earlier.revision_id


@pytest.mark.covers("ORG-40")
def test_the_history_cannot_be_changed_or_deleted() -> None:
    revisions.apply_document(ACTOR, TWO_TEAMS, summary="Base")
    for statement in (
        "UPDATE orgs_configrevision SET summary = 'other'",
        "DELETE FROM orgs_activation",
    ):
        with (
            pytest.raises(IntegrityError, match="only ever added to"),
            transaction.atomic(),
            connection.cursor() as cursor,
        ):
            cursor.execute(statement)
