"""What the tracker does when something happens below it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from django.db import transaction

from agents.events import SpendAdded, TurnFailed
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.events import announce
from crewlet.kernel.ids import new_id
from crewlet.kernel.live import TOPICS
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.refs import REF_KINDS, label_of, url_of
from orgs import epochs
from orgs.demo.creation import ensure_demo
from orgs.events import DemoCreated
from orgs.models.notices import Notice
from orgs.revisions import apply_document
from tests.tracker.company import COMPANY, comment, create, mail, read_mail
from tests.tracker.conftest import Cast
from tracker.inbox import waits_by_seat
from tracker.models.items import WorkItem
from tracker.models.projects import Project
from tracker.models.spend import TurnCharge


def apply(text: str) -> None:
    apply_document(engine_actor("tests"), text, summary="changed by a test")


@pytest.mark.covers("TRK-1")
def test_projects_follow_the_chart_and_outlive_it(cast: Cast) -> None:
    eng = Project.objects.get(key="ENG")
    assert (eng.name, eng.purpose, eng.unit_key) == ("Engineering", "Builds the lamps", "eng")
    assert eng.lead_id == cast.cto.seat_id
    item = create(cast.ana, project="ENG")
    apply(COMPANY.replace("name: Engineering", "name: Lamp Lab").replace("    project: ENG\n", ""))
    eng.refresh_from_db()
    assert eng.name == "Engineering"
    assert eng.left_chart_at is not None
    assert WorkItem.objects.get(pk=item.pk).project_id == eng.pk
    apply(COMPANY.replace("name: Engineering", "name: Lamp Lab"))
    eng.refresh_from_db()
    assert eng.name == "Lamp Lab"
    assert Project.objects.get(key="ENG").left_chart_at is None
    assert create(cast.ana, project="ENG").key == "ENG-2"


@pytest.mark.covers("TRK-1")
def test_an_apply_that_changes_nothing_of_a_project_leaves_its_version(cast: Cast) -> None:
    apply(COMPANY + "vision: Light everywhere\n")
    assert set(Project.objects.values_list("version", flat=True)) == {1}
    assert not EngineEvent.objects.filter(type="project_updated").exists()


def spend(item: WorkItem, op_id: str, turn: object, tokens: int = 100) -> None:
    with transaction.atomic():
        announce(
            SpendAdded(
                work_item={"backend": "native", "id": str(item.pk), "key": item.key},
                turn_id=turn,  # type: ignore[arg-type]
                seat_id=epochs.active().seat_ids["agent-swe"],
                handle="agent-swe",
                op_id=op_id,
                tokens_in=tokens,
                tokens_out=10,
                calls=2,
            )
        )


@pytest.mark.covers("TURN-10")
def test_spend_is_added_once_a_stretch_and_a_turn_counts_once(cast: Cast) -> None:
    item, turn = create(cast.ana, project="ENG"), new_id()
    spend(item, "a", turn)
    spend(item, "a", turn)
    spend(item, "b", turn)
    spend(item, "c", new_id())
    item.refresh_from_db()
    assert (item.turns, item.tokens_in, item.tokens_out) == (2, 300, 30)
    assert (item.version, TurnCharge.objects.count()) == (1, 3)


def failed(cast: Cast, item: WorkItem | None, **given: Any) -> TurnFailed:
    ref = {"backend": "native", "id": str(item.pk), "key": item.key} if item else None
    facts: dict[str, Any] = {
        "turn_id": new_id(), "seat_id": cast.swe.seat_id, "handle": "agent-swe",
        "name": "Software Engineer", "error_kind": "auth",
        "message": "The provider refused the key. Set a new one.", "reply_kind": "tool",
        "reply_surface": "work", "trigger": {"actor": "qa"}, "work_item": ref,
    }  # fmt: skip
    return TurnFailed(**(facts | given))


@pytest.mark.covers("ADD-4")
def test_a_failed_turn_is_said_on_the_item_and_to_whoever_waits(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    read_mail("agent-swe")
    with transaction.atomic():
        announce(failed(cast, item))
    (note,) = item.comments.all()
    assert note.kind == "system"
    assert "Set a new one." in note.body
    (letter,) = mail("qa")
    assert letter.reply_kind == "none"
    assert "The provider refused the key" in letter.payload["text"]
    assert Notice.objects.get(seat__handle="ana", reason="turn_failed").ref == "item:ENG-1"
    assert mail("agent-swe") == []


def test_a_failed_turn_that_owed_nothing_wakes_nobody(cast: Cast) -> None:
    item = create(cast.ana, project="ENG", assignee="agent-swe")
    with transaction.atomic():
        announce(failed(cast, item, reply_kind="none"))
        announce(failed(cast, None))
    assert mail("qa") == []
    assert item.comments.count() == 1


def test_the_demo_files_its_first_goal_as_the_founder(cast: Cast) -> None:
    founder = cast.ana.seat_id
    assert founder is not None
    with transaction.atomic():
        announce(DemoCreated(1, founder, "Light the harbour", "All of it.", "ENG", "agent-cto"))
    goal = WorkItem.objects.get()
    assert (goal.title, goal.reporter_id) == ("Light the harbour", founder)
    (letter,) = mail("agent-cto")
    assert (letter.reply_kind, letter.agent_caused) == ("tool", False)
    assert letter.payload["sender"]["kind"] == "human"


def test_items_and_projects_are_references_with_a_name_and_a_place(cast: Cast) -> None:
    create(cast.ana, "Lamp", project="ENG")
    assert label_of("item:ENG-1") == "ENG-1 Lamp"
    assert url_of("item:ENG-1") == "/work/ENG-1"
    assert REF_KINDS["item"].exists("eng-1")
    assert not REF_KINDS["item"].exists("ENG-2")
    assert (label_of("project:ENG"), url_of("project:ENG")) == ("Engineering", "/work/ENG")
    assert TOPICS["item"](cast.ana, "ENG-1")


@pytest.mark.covers("ADD-1")
def test_what_waits_on_people_is_known_by_seat(cast: Cast) -> None:
    item = create(cast.ana, "Lamp", project="ENG", assignee="agent-swe")
    comment(cast.swe, item, "Which?", ask="ana")
    comment(cast.swe, item, "And when?", ask="ana")
    comment(cast.swe, item, "qa?", ask="qa")
    waits = waits_by_seat()
    swe, ana = cast.swe.seat_id, cast.ana.seat_id
    assert set(waits) == {swe, ana}
    assert (waits[swe]["who"], waits[swe]["key"], waits[swe]["count"]) == ("Ana", "ENG-1", 2)  # type: ignore[index]
    assert waits[ana]["who"] == "Software Engineer"  # type: ignore[index]


def test_the_demo_company_comes_with_its_goal_on_its_first_agent(db: None) -> None:
    epochs.forget()
    keys = SimpleNamespace(anthropic_api_key="", openai_api_key="")
    assert ensure_demo(keys) is not None
    goal = WorkItem.objects.select_related("project", "assignee", "reporter").get()
    assert (goal.project.key, goal.reporter.kind, goal.assignee.kind) == ("HQ", "human", "agent")  # type: ignore[union-attr]
    (letter,) = mail(goal.assignee.handle)  # type: ignore[union-attr]
    assert "Reason: assigned" in letter.payload["text"]
    epochs.forget()
