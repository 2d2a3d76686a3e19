"""Many write at once: real connections, one barrier."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

import pytest

from crewlet.kernel import db, live
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.errors import Conflict, Invalid, NotFound
from crewlet.kernel.redis import client
from orgs import epochs
from orgs.revisions import apply_document
from tests.tracker.company import COMPANY, act, comment, create, mail, update
from tests.tracker.conftest import Cast
from tracker.models.comments import Comment
from tracker.models.history import Change
from tracker.models.items import WorkItem
from tracker.models.projects import Project

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")


@pytest.fixture
def crew(transactional_db: None) -> Iterator[Cast]:
    epochs.forget()
    apply_document(engine_actor("tests"), COMPANY, summary="for the races")
    yield Cast(epochs.active())
    epochs.forget()


def at_once(*calls: Callable[[], T]) -> list[T | Exception]:
    """Runs the calls on threads with connections of their own, let go together."""
    barrier = threading.Barrier(len(calls))

    def run(call: Callable[[], T]) -> T | Exception:
        try:
            barrier.wait(timeout=20)  # without a connection: the pool is smaller than the crowd
            return call()
        except Exception as error:  # noqa: BLE001  # the test looks at it
            return error
        finally:
            db.release()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(run, calls))


def results(outcomes: list[Any]) -> list[Any]:
    for outcome in outcomes:
        if isinstance(outcome, Exception):
            raise outcome
    return outcomes


@pytest.mark.covers("TRK-2", "TRK-43")
def test_fifty_parallel_creates_get_fifty_keys_and_a_gapless_history(crew: Cast) -> None:

    def file(n: int) -> Callable[[], str]:
        return lambda: create(crew.ana, f"Item {n}", project="ENG").key

    keys = results(at_once(*(file(n) for n in range(50))))
    assert sorted(keys) == sorted(f"ENG-{n}" for n in range(1, 51))
    assert Project.objects.get(key="ENG").next_number == 51
    ranks = list(WorkItem.objects.values_list("rank", flat=True))
    assert len(set(ranks)) == 50
    assert sorted(Change.objects.values_list("seq", flat=True)) == list(range(1, 51))


@pytest.mark.covers("TRK-30")
def test_two_drags_into_one_gap_get_distinct_places(crew: Cast) -> None:
    a, b, c, d = (create(crew.ana, title, project="ENG") for title in "abcd")
    drags = [
        lambda item=item: act(crew.ana, "place_work_item", item=item.key, if_match=1, after=a.key)
        for item in (c, d)
    ]
    results(at_once(*drags))
    order = "".join(WorkItem.objects.order_by("rank").values_list("title", flat=True))
    assert order in {"acdb", "adcb"}
    assert len(set(WorkItem.objects.values_list("rank", flat=True))) == 4
    assert b.title == "b"


@pytest.mark.covers("TRK-35")
def test_of_two_answers_to_one_ask_exactly_one_lands(crew: Cast) -> None:
    item = create(crew.ana, project="ENG", assignee="agent-swe")
    ident = comment(crew.swe, item, "Go?", ask="ana").data["comment"]
    answers = [
        lambda n=n: act(
            crew.ana, "comment_on_work_item", item=item.key, body=f"Answer {n}", answers=ident
        )
        for n in range(4)
    ]
    outcomes = at_once(*answers)
    assert sum(isinstance(outcome, Conflict) for outcome in outcomes) == 3
    assert Comment.objects.filter(answers_id=ident).count() == 1


@pytest.mark.covers("TRK-10")
def test_two_moves_that_would_close_a_circle_do_not(crew: Cast) -> None:
    a, b = create(crew.ana, "a", project="ENG"), create(crew.ana, "b", project="ENG")
    outcomes = at_once(
        lambda: act(crew.ana, "update_work_item", item=a.key, parent=b.key),
        lambda: act(crew.ana, "update_work_item", item=b.key, parent=a.key),
    )
    assert sum(isinstance(outcome, Invalid) for outcome in outcomes) == 1
    parents = dict(WorkItem.objects.values_list("title", "parent__title"))
    assert sorted(parents.values(), key=str) in ([None, "a"], [None, "b"], ["a", None], ["b", None])


@pytest.mark.covers("TRK-8")
def test_edits_of_different_fields_at_once_both_stay(crew: Cast) -> None:
    item = create(crew.ana, project="ENG")
    results(
        at_once(
            lambda: act(crew.ana, "update_work_item", item=item.key, priority="high"),
            lambda: act(crew.omar, "update_work_item", item=item.key, title="Better"),
            lambda: act(crew.swe, "update_work_item", item=item.key, status="in_review"),
        )
    )
    item.refresh_from_db()
    assert (item.priority, item.title, item.status) == ("high", "Better", "in_review")
    assert item.version == 4


@pytest.mark.covers("ADD-12")
def test_agents_talking_at_once_still_stop_at_five_wakes(crew: Cast) -> None:
    item = create(crew.ana, project="ENG", assignee="agent-cto")
    start = len(mail("qa"))
    talk = [
        lambda n=n: act(crew.swe, "comment_on_work_item", item=item.key, body=f"{n} @qa")
        for n in range(8)
    ]
    results(at_once(*talk))
    woken = [letter for letter in (*mail("qa"), *mail("agent-cto")) if letter.agent_caused]
    assert start == 0
    assert len([x for x in woken if x.payload["change"] == "comment"]) == 5
    assert item.comments.filter(kind="system").count() == 1
    update(crew.ana, item, priority="low")
    assert item.agent_wakes == 0


def test_pages_that_show_an_item_hear_of_it_after_the_commit(crew: Cast) -> None:
    stream, *_ = live.ring_keys()

    def topics() -> set[str]:
        entries = cast("list[tuple[str, dict[str, str]]]", client().xrange(stream))
        frames = [json.loads(entry["frame"]) for _, entry in entries]
        hints = [frame for frame in frames if frame["kind"] == "changed"]
        return {topic for hint in hints for topic in hint["topics"]}

    whole = create(crew.ana, "Whole", project="ENG")
    assert {"item:ENG-1", "project:ENG", "work", "home"} <= topics()
    client().delete(stream)
    create(crew.swe, "Part", parent=whole.key)
    assert {"item:ENG-1", "item:ENG-2"} <= topics()
    client().delete(stream)
    comment(crew.swe, whole, "Which?", ask="ana")
    assert {"item:ENG-1", "inbox"} <= topics()
    client().delete(stream)
    act(crew.ana, "place_work_item", item="ENG-2", if_match=1, before="ENG-1")
    assert {"item:ENG-2", "project:ENG"} <= topics()
    client().delete(stream)
    with pytest.raises(NotFound):
        act(crew.ana, "update_work_item", item="ENG-9", status="done")
    assert topics() == set()
