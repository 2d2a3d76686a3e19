"""The demo company by itself: a goal goes down, its parts come up, one decision waits for a person,
and after her answer nothing more happens."""

from __future__ import annotations

from typing import Any

from django.conf import settings

from agents.models.mail import Delivery
from agents.models.seats import Node
from agents.models.turns import Phase, Turn
from orgs.demo.creation import FIRST_ASSIGNEE, FOUNDER, ensure_demo
from orgs.models.people import Person
from tests.e2e.company import act, at_rest, until_rest
from tests.support.processes import Process, Processes
from tests.support.until import until
from tracker.models.comments import Comment
from tracker.models.items import WorkItem

LONG = 50.0


def demo(processes: Processes) -> tuple[Person, Process]:
    """The demo company, its founder and a worker that plays it without a pause."""
    line = ensure_demo(settings.CREWLET)
    assert line
    assert "rehearse" in line
    founder = Person.objects.get(seat__handle=FOUNDER)
    return founder, processes.start_worker("one", CREWLET_REHEARSAL_PACE="0")


def open_asks() -> list[Comment]:
    return list(Comment.objects.filter(answered_at=None).exclude(asked=None))


def quiet_with_an_ask(worker: Process) -> bool:
    assert not worker.ended, worker.output
    return at_rest() and bool(open_asks())


def nothing_more_happens() -> None:
    """The worker has looked for work again since, and neither a turn nor mail came of it."""
    before = Turn.objects.count()
    seen = Node.objects.get(ended_at=None).expires_at
    until(
        lambda: Node.objects.get(ended_at=None).expires_at > seen, LONG, what="the worker lives on"
    )
    assert at_rest()
    assert Turn.objects.count() == before


def test_the_demo_company_comes_to_rest_and_one_answer_ends_its_goal(processes: Processes) -> None:
    founder, worker = demo(processes)
    until(lambda: quiet_with_an_ask(worker), LONG, what="the company waits for its founder")
    nothing_more_happens()

    (goal,) = WorkItem.objects.filter(parent=None)
    turns = list(Turn.objects.select_related("seat"))
    assert {turn.outcome for turn in turns} <= {"completed", "skipped"}, [
        (turn.seat.handle, turn.outcome, turn.error) for turn in turns
    ]
    reviewed = (
        Phase.objects.filter(phase="review", turn__outcome="completed")
        .values("turn").distinct().count()
    )  # fmt: skip
    assert reviewed >= 3

    parts = WorkItem.objects.filter(parent=goal)
    assert {part.assignee.handle for part in parts if part.assignee} == {"head-of-routes", "editor"}
    assert WorkItem.objects.filter(parent__in=parts).count() >= 2, "the leads delegate on"
    assert set(WorkItem.objects.exclude(id=goal.id).values_list("status", flat=True)) == {"done"}
    for part in parts:
        reports = Comment.objects.filter(item=part, author=part.assignee.handle)  # type: ignore[union-attr]
        assert reports.exists(), f"{part.key} was closed without a word"

    sent_back = Turn.objects.filter(iteration__gt=1)
    assert sent_back.exists(), "nobody's work was sent back by a reviewer"

    (ask,) = open_asks()
    assert ask.item_id == goal.id
    assert ask.asked is not None
    assert ask.asked.handle == FOUNDER
    assert ask.author == FIRST_ASSIGNEE

    assert ask.decision is not None
    options: list[dict[str, Any]] = ask.decision["options"]
    act(
        founder, "comment_on_work_item", item=goal.key, body="Go ahead.", answers=str(ask.id),
        choice=options[0]["id"],
    )  # fmt: skip

    def goal_is_done() -> bool:
        assert not worker.ended, worker.output
        return WorkItem.objects.get(id=goal.id).status == "done"

    until(goal_is_done, LONG, what="the goal is done")
    until_rest(LONG)
    assert not open_asks()
    assert not WorkItem.objects.exclude(status="done").exists()
    assert not Delivery.objects.exists()
    assert set(Turn.objects.values_list("outcome", flat=True)) <= {"completed", "skipped"}
    nothing_more_happens()
