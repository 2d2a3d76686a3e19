"""Who hears of a change, and why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from crewlet.kernel.ids import new_id
from tracker.wakes import STRENGTH, Around, ChangeKind, Happened, Party, Reason, wakes_of

ACTOR, ASSIGNEE, REPORTER, LEAD, OTHER, WATCHER, PARENT = (
    Party(seat_id=new_id()) for _ in range(7)
)
EVERYBODY = frozenset({ACTOR, ASSIGNEE, REPORTER, LEAD, OTHER, WATCHER, PARENT})
NOBODY = Around(actor=ACTOR, by_agent=True)
COMMENT = Happened(ChangeKind.COMMENT)
FINISH = Happened(ChangeKind.STATUS, finished=True)


def reasons(happened: Happened, around: Around) -> dict[Party, Reason]:
    return {wake.party: wake.reason for wake in wakes_of(happened, around, EVERYBODY)}


@pytest.mark.covers("TRK-44")
def test_everybody_hears_once_for_the_strongest_reason() -> None:
    around = replace(
        NOBODY,
        assignee=ASSIGNEE,
        reporter=ASSIGNEE,
        mentioned=(ASSIGNEE,),
        asked=OTHER,
        watchers=(OTHER, WATCHER, ASSIGNEE),
    )
    assert reasons(COMMENT, around) == {
        ASSIGNEE: Reason.MENTION,
        OTHER: Reason.ASKED,
        WATCHER: Reason.WATCHER,
    }


@pytest.mark.covers("TRK-44")
def test_reasons_come_in_the_order_of_the_table() -> None:
    around = Around(
        actor=ACTOR, by_agent=False, assignee=ASSIGNEE, reporter=REPORTER, mentioned=(OTHER,),
        thread=(PARENT,), watchers=(WATCHER,),
    )  # fmt: skip
    order = [wake.reason for wake in wakes_of(COMMENT, around, EVERYBODY)]
    assert order == sorted(order, key=STRENGTH.__getitem__)
    assert len(order) == 5


@pytest.mark.covers("TRK-44")
def test_ones_own_change_is_silent() -> None:
    around = replace(NOBODY, assignee=ACTOR, reporter=ACTOR, mentioned=(ACTOR,), watchers=(ACTOR,))
    assert wakes_of(COMMENT, around, EVERYBODY) == ()


@pytest.mark.covers("TRK-44")
def test_who_left_the_company_is_dropped() -> None:
    gone = Party(seat_id=new_id())
    assert wakes_of(COMMENT, replace(NOBODY, assignee=gone), EVERYBODY) == ()


@pytest.mark.covers("TRK-44")
@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (ChangeKind.CREATED, True),
        (ChangeKind.STATUS, True),
        (ChangeKind.COMMENT, True),
        (ChangeKind.FIELDS, False),
        (ChangeKind.REPARENTED, False),
    ],
)
def test_the_lead_hears_of_what_would_reach_nobody(kind: ChangeKind, told: bool) -> None:
    around = replace(NOBODY, leads=(LEAD,))
    assert (LEAD in reasons(Happened(kind), around)) is told
    assert LEAD not in reasons(Happened(kind), replace(around, assignee=ASSIGNEE))


def test_an_assignee_who_moves_their_own_item_on_does_not_wake_the_lead() -> None:
    around = replace(NOBODY, assignee=ACTOR, leads=(LEAD,))
    assert reasons(Happened(ChangeKind.STATUS), around) == {}
    assert reasons(FINISH, around) == {LEAD: Reason.LEAD_FALLBACK}


def test_a_lead_does_not_wake_themselves_and_the_next_one_hears() -> None:
    assert wakes_of(COMMENT, replace(NOBODY, leads=(ACTOR,)), EVERYBODY) == ()
    around = replace(NOBODY, leads=(ACTOR, LEAD))
    assert reasons(COMMENT, around) == {LEAD: Reason.LEAD_FALLBACK}


def test_the_reporter_hears_of_the_end_of_talk_and_of_hand_overs_only() -> None:
    around = replace(NOBODY, reporter=REPORTER)
    for happened in (COMMENT, FINISH, Happened(ChangeKind.ASSIGNEE, assigned=True)):
        assert reasons(happened, around) == {REPORTER: Reason.REPORTER}
    assert reasons(Happened(ChangeKind.STATUS), around) == {}
    assert reasons(Happened(ChangeKind.FIELDS), around) == {}


def test_a_hand_over_tells_the_old_and_the_new_assignee() -> None:
    around = replace(NOBODY, assignee=ASSIGNEE, previous_assignee=OTHER)
    told = reasons(Happened(ChangeKind.ASSIGNEE, assigned=True), around)
    assert told == {ASSIGNEE: Reason.ASSIGNEE, OTHER: Reason.UNASSIGNED}


def test_a_finished_part_tells_who_has_the_whole() -> None:
    around = replace(NOBODY, parent_assignee=PARENT)
    assert reasons(FINISH, around) == {PARENT: Reason.PARENT_ASSIGNEE}
    assert reasons(COMMENT, around) == {}


@pytest.mark.covers("TRK-45", "TURN-6")
@pytest.mark.parametrize(
    ("happened", "by_agent", "owed"),
    [
        (Happened(ChangeKind.CREATED), True, True),
        (Happened(ChangeKind.ASSIGNEE, assigned=True), True, True),
        (FINISH, True, True),
        (COMMENT, False, True),
        (COMMENT, True, False),
        (Happened(ChangeKind.FIELDS), False, False),
    ],
)
def test_an_assignee_owes_an_answer_to_work_and_to_people_not_to_chatter(
    happened: Happened, by_agent: bool, owed: bool
) -> None:
    around = replace(NOBODY, assignee=ASSIGNEE, by_agent=by_agent)
    (wake,) = wakes_of(happened, around, EVERYBODY)
    assert wake.addressed is owed


@pytest.mark.covers("TRK-45", "TURN-6")
def test_whoever_is_mentioned_or_asked_always_owes_an_answer_and_a_watcher_never() -> None:
    around = replace(NOBODY, mentioned=(OTHER,), asked=ASSIGNEE, watchers=(WATCHER,))
    owed = {wake.party: wake.addressed for wake in wakes_of(COMMENT, around, EVERYBODY)}
    assert owed == {OTHER: True, ASSIGNEE: True, WATCHER: False}


def test_bookkeeping_wakes_nobody() -> None:
    around = replace(NOBODY, assignee=ASSIGNEE, leads=(LEAD,))
    assert wakes_of(Happened(ChangeKind.WATCHERS), around, EVERYBODY) == ()
