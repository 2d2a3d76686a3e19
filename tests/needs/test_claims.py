"""Who takes work, when it counts as taken, and what is said when nobody will."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from django.conf import settings
from django.db import transaction

from agents.dispatch.turns import TurnContext
from agents.models.mail import Completion, Delivery
from agents.models.seats import HoldReason, SeatLease
from agents.models.turns import Turn
from agents.seats import holds
from agents.seats.host import SeatHost
from agents.seats.lease import Lease
from agents.tools import registry
from crewlet.kernel import clock
from crewlet.kernel.errors import Conflict, Invalid
from orgs import epochs
from tests.agents.play import PlayedTurns, a_company, a_letter, post_now
from tests.support.until import until
from tests.tracker.company import act, attempt, comment, create, mail, read_mail, update
from tests.tracker.conftest import Cast
from tracker.models.items import WorkItem

MakeHost = Callable[..., SeatHost]
PRODUCT = ("agents", "crewlet", "integrations", "orgs", "tracker")


@pytest.mark.covers("PEER-14")
@pytest.mark.django_db(transaction=True)
def test_mail_that_waits_is_claimed_by_nobody_and_its_withdrawal_locks_nothing(
    make_host: MakeHost,
) -> None:
    kofi = a_company("kofi")["kofi"]
    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now())
    turns = PlayedTurns()
    host = make_host(turns)
    host.start()
    until(lambda: host.seats() == [kofi], 10)
    cancelled = a_letter("cancelled")
    post_now(kofi, cancelled)
    assert not Turn.objects.exists(), "a queued letter is no turn"
    assert Delivery.objects.get().turn_id is None
    Delivery.objects.filter(event_id=cancelled.event_id).delete()
    post_now(kofi, a_letter("wanted", batch_key="other"))
    holds.lift(kofi, HoldReason.SEAT_PAUSED)
    host.runner.poke(kofi)  # type: ignore[union-attr]
    until(lambda: Completion.objects.count() == 1, 10, what="the other letter is worked")
    assert len(turns.ran) == 1


@pytest.mark.covers("PEER-20", "PEER-14")
@pytest.mark.django_db(transaction=True)
def test_a_wake_that_the_broker_delivers_again_starts_nothing_anywhere(
    make_host: MakeHost,
) -> None:
    """However long the turn runs: the claim in Postgres decides, not the broker's clock."""
    kofi = a_company("kofi")["kofi"]
    here, go = threading.Event(), threading.Event()

    def long(turns: PlayedTurns, turn_id: UUID, lease: Lease, _: TurnContext) -> None:
        here.set()
        assert go.wait(20)
        turns.settle(turn_id, lease)

    turns, others = PlayedTurns(long), PlayedTurns()
    post_now(kofi, a_letter("once"))
    first = make_host(turns)
    first.start()
    assert here.wait(10)
    second = make_host(others, node_id="two")
    second.start()
    for host in (first, second):
        host.runner.poke(kofi)  # type: ignore[union-attr]
    gate = second.runner.gate  # type: ignore[union-attr]
    until(lambda: gate.in_flight() == 0 and gate.waiting() == 0, 10)
    assert others.ran == []
    assert Turn.objects.count() == 1
    go.set()
    until(lambda: Completion.objects.count() == 1, 10)
    assert len(turns.ran) == 1
    assert SeatLease.objects.get(seat_id=kofi).epoch == 1


@pytest.mark.covers("PEER-21")
def test_no_delay_is_left_to_the_broker() -> None:
    """A wait is a time in a row; a task with an eta would be lost or doubled by a broker."""
    found = []
    for path in (file for name in PRODUCT for file in _sources(name)):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                given = {keyword.arg for keyword in node.keywords}
                if given & {"eta", "countdown"}:
                    found.append(f"{path}:{node.lineno}")
    assert found == [], "keep the time in a column and let the sweep find it"


def _sources(name: str) -> list[Path]:
    return sorted((Path(settings.BASE_DIR) / name).rglob("*.py"))


@pytest.mark.covers("PEER-31")
def test_who_leads_nobody_is_offered_no_tool_of_a_lead(cast: Cast) -> None:
    snapshot = epochs.active()
    lead, member = (
        {tool.name for tool in registry.surface(snapshot, handle, "execute")}
        for handle in ("agent-cto", "agent-swe")
    )
    assert lead - member == {"steer_turn"}
    assert member <= lead


@pytest.mark.covers("PEER-32")
def test_work_for_whom_does_not_exist_or_does_not_work_is_refused_or_says_so(cast: Cast) -> None:
    with pytest.raises(Invalid, match="Did you mean @agent-swe"):
        create(cast.ana, project="ENG", assignee="agent-sew")
    assert not WorkItem.objects.exists()
    awake = act(cast.ana, "create_work_item", title="Lamp", project="ENG", assignee="qa")
    assert "Waits" not in awake.message
    seat = cast["agent-swe"].seat_id
    assert seat is not None
    holds.put(seat, HoldReason.SEAT_PAUSED, by="ana", now=clock.now(), note="on the new board")
    filed = attempt(
        cast.cto, "create_work_item", title="Wire", project="ENG", assignee="agent-swe"
    ).unwrap()
    why = "Waits: @agent-swe is paused by ana (on the new board)"
    assert why in filed.message
    item = WorkItem.objects.get(title="Lamp")
    assert why in update(cast.ana, item, assignee="agent-swe").message
    assert "Waits" not in update(cast.ana, item, title="A lamp").message


@pytest.mark.covers("PEER-28")
def test_a_mention_and_the_end_of_a_part_are_one_wake_for_who_gave_it(cast: Cast) -> None:
    whole = create(cast.ana, project="ENG", assignee="agent-cto")
    part = create(cast.cto, project="ENG", parent=whole.key, assignee="agent-swe")
    read_mail("agent-cto")
    comment(cast.swe, part, "@agent-cto it shines")
    update(cast.swe, part, status="done")
    assert [letter.conversation for letter in mail("agent-cto")] == [f"work:{part.key}"] * 2
    other = create(cast.cto, project="ENG", parent=whole.key, assignee="agent-swe")
    read_mail("agent-cto")
    update(cast.swe, other, status="done")
    (letter,) = mail("agent-cto")
    assert letter.conversation == f"work:{whole.key}", "without a mention it is told on the whole"


@pytest.mark.covers("PEER-23")
def test_an_agents_whole_is_not_done_while_a_part_of_it_is_open(cast: Cast) -> None:
    whole = create(cast.ana, project="ENG", assignee="agent-cto")
    parts = [create(cast.cto, project="ENG", parent=whole.key, assignee="qa") for _ in range(2)]
    update(cast.qa, parts[0], status="done")
    with pytest.raises(Conflict, match=f"parts of it are open: {parts[1].key}"):
        update(cast.cto, whole, status="done")
    whole.refresh_from_db()
    assert whole.status == "todo"
    update(cast.cto, parts[1], status="cancelled")
    update(cast.cto, whole, status="done")
    update(cast.ana, parts[1], status="todo")
    update(cast.ana, whole, status="in_progress")
    update(cast.ana, whole, status="done")
    assert whole.status == "done", "a person is in charge"
