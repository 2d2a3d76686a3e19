"""What the examples of the contract suite need: worlds, arranged, and the arguments for a call."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models.mail import DeadLetter, Delivery
from agents.models.seats import HoldReason
from agents.models.turns import Phase, Round, Suspension, ToolCall, Turn
from agents.seats import holds
from crewlet.files import store
from crewlet.kernel import clock
from crewlet.kernel.actions import Door, perform
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.ids import new_id
from orgs.models.company import Company, ConfigRevision
from orgs.models.people import Person, SessionRecord
from orgs.notices import notify
from orgs.people.actors import session_actor
from orgs.revisions import apply_document
from tests.agents.play import a_letter, a_node, an_open_turn, post_now
from tests.contract.world import KIM, World
from tests.tracker.company import COMPANY, act, create

Arguments = dict[str, Any]
Arrange = Callable[[World], Arguments]
NO_ID = UUID("018f0000-0000-7000-8000-000000000000")
DIGEST = "ab" * 32


def just(**args: Any) -> Arrange:
    """A call that needs nothing arranged."""
    return lambda _world: args


def kim_is(stage: str) -> Arrange:
    """Kim is in a stage of her life here."""

    def arrange(_world: World) -> Arguments:
        Person.objects.filter(login=KIM).update(stage=stage)
        return {"login": KIM}

    return arrange


def a_session(world: World) -> Arguments:
    world.sign_in(world.kim)
    return {"session": str(SessionRecord.objects.get(person=world.kim).id)}


def sessions_of_kim(world: World) -> Arguments:
    world.sign_in(world.kim)
    return {"login": KIM}


def a_token(world: World) -> Arguments:
    from orgs.models.people import Credential, CredentialKind

    Credential.objects.create(
        kind=CredentialKind.TOKEN, label="robot", person=None, digest=DIGEST,
        grants=["state:read"], created_at=clock.now(), created_by="ana",
    )  # fmt: skip
    return {"label": "robot"}


def an_item_ref(world: World) -> Arguments:
    """An item of the person, by its reference."""
    return {"ref": f"item:{create(world.agent('agent-cto')).key}"}


def no_company(world: World) -> Arguments:
    """The store as it was before the first company: nobody holds a seat, nothing runs."""
    Person.objects.update(seat=None)
    Company.objects.update(active_revision=None)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("TRUNCATE orgs_activation")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return {"name": "Harbour Bakery", "template": "new", "thinking": "rehearsal"}


def a_notice(world: World) -> Arguments:
    notice = notify(
        world.seat("ana"), "mention", reason="mention", title="Kim mentions you", body="Look.",
        ref="item:ENG-1", event_id=new_id(),
    )  # fmt: skip
    assert notice is not None
    return {"read": [str(notice.id)]}


def two_revisions(_world: World) -> Arguments:
    first = ConfigRevision.objects.get()
    changed = COMPANY.replace("Light where it is needed", "Light for all")
    apply_document(engine_actor("tests"), changed, summary="Another aim")
    return {"revision": str(first.id)}


def a_paused_seat(world: World) -> Arguments:
    holds.put(world.seat("agent-swe"), HoldReason.SEAT_PAUSED, by="ana", now=clock.now())
    return {"seat": "agent-swe"}


def a_worker(_world: World) -> Arguments:
    a_node("one")
    return {"node": "one"}


def a_letter_of(world: World) -> UUID:
    letter = a_letter("Please look")
    post_now(world.seat("agent-swe"), letter)
    return letter.event_id


def a_running_turn(world: World) -> Arguments:
    event = a_letter_of(world)
    with connection.cursor() as cursor:
        turn = an_open_turn(cursor, world.seat("agent-swe"), [event], stage="phase")
    return {"turn": str(turn), "reason": "Wrong lamp"}


def a_failed_turn(world: World) -> Arguments:
    turn = a_running_turn(world)["turn"]
    Turn.objects.filter(id=turn).update(stage="done", outcome="failed")
    Delivery.objects.all().delete()
    return {"turn": turn}


def a_note_to_a_turn(world: World) -> Arguments:
    return {"turn": a_running_turn(world)["turn"], "note": "Mind the lamp"}


def a_wait(world: World, kind: str) -> Arguments:
    """A call of a parked turn that hangs on Ana."""
    turn = Turn.objects.get(id=str(a_running_turn(world)["turn"]))
    now = clock.now()
    phase = Phase.objects.create(
        turn=turn, phase="execute", iteration=1, system="", user="", max_rounds=24, started_at=now
    )
    found = Round.objects.create(
        phase=phase, n=0, started_at=now, ms=1, stop_reason="tool_use", answer="{}"
    )
    call = ToolCall.objects.create(round=found, ord=0, call_id="c", name="drop_lamp")
    Turn.objects.filter(id=turn.id).update(stage="parked", park_reason="person", wake_at=now)
    wait = Suspension.objects.create(
        turn=turn, call=call, kind=kind, tool=call.name, question="May I?", args_text="{}",
        opened_at=now, until=now + timedelta(days=90),
    )  # fmt: skip
    return {"wait": str(wait.id)}


def a_question(world: World) -> Arguments:
    return a_wait(world, "answer") | {"answer": "Yes"}


def a_call_that_needs_leave(world: World) -> Arguments:
    return a_wait(world, "approval") | {"decision": "approve"}


def a_dead_letter(world: World) -> Arguments:
    event = a_letter_of(world)
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_jsonb(d) FROM agents_delivery d WHERE event_id = %s", [event])
        (mail,) = cursor.fetchone()
    Delivery.objects.filter(event_id=event).delete()
    row = DeadLetter.objects.create(
        seat_id=world.seat("agent-swe"), event_id=event, attempts=3, error="The model was down.",
        mail=json.loads(mail) if isinstance(mail, str) else mail, at=clock.now(),
    )  # fmt: skip
    return {"letter": str(row.id)}


def an_item(**more: Any) -> Arrange:
    """An item of the Engineering project, filed by the engine, and what to do with it."""

    def arrange(world: World) -> Arguments:
        item = create(world.agent("agent-cto"), "Fix the switch", project="ENG")
        return {"item": item.key, **more}

    return arrange


def a_file(world: World) -> Arguments:
    """A file of the Engineering project, by its path."""
    act(world.agent("agent-cto"), "write_project_file", project="ENG", path="a.md", content="A")
    return {"project": "ENG", "path": "a.md"}


def an_upload(world: World) -> Arguments:
    """Bytes that wait to be attached to an item."""
    stored = store.put(io.BytesIO(b"lamp"))
    sent = {"name": "a.txt", "sha256": stored.sha256, "upload": store.ticket(stored)}
    return an_item(**sent)(world)


def a_project_upload(world: World) -> Arguments:
    """Bytes that wait to be put into a project."""
    stored = store.put(io.BytesIO(b"lamp"))
    sent = {"path": "docs/lamp.txt", "sha256": stored.sha256, "upload": store.ticket(stored)}
    return {"project": "ENG", **sent}


def an_attachment(world: World) -> Arguments:
    """A file on an item."""
    args = an_upload(world)
    ana = session_actor(world.ana)
    attached = perform(ana, "attach_file", args, op_id=None, door=Door.REST).unwrap()
    return {"item": args["item"], "attachment": attached.data["id"]}


def a_removed_item(world: World) -> Arguments:
    """An item that a person took out of sight."""
    args = an_item()(world)
    ana = session_actor(world.ana)
    perform(ana, "remove_work_item", args, op_id=None, door=Door.REST).unwrap()
    return args


def two_items(world: World) -> Arguments:
    cto = world.agent("agent-cto")
    create(cto, "Fix the switch", project="ENG")
    item = create(cto, "Order glass", project="ENG")
    return {"item": item.key, "if_match": item.version, "before": "ENG-1"}


def tool_servers(_world: World) -> Arguments:
    """A company with two shared servers of tools, which nothing here starts."""
    listed = "".join(f"  - {{name: {name}, command: {name}}}\n" for name in ("box", "crate"))
    document = f"{COMPANY.rstrip()}\nmcp_servers:\n{listed}"
    apply_document(engine_actor("tests"), document, summary="Servers of tools")
    return {"server": "box"}
