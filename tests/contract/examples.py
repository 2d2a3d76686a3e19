"""One example an action: a good call, a bad field, who may not, what is not there.

To add an action, add its `Example` below under its own name; the suite does the rest at every door
the action lists, and writes its query counts with `CREWLET_BANK_QUERIES=1 pytest tests/contract`.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from django.db import connection

from agents.models.mail import DeadLetter, Delivery
from agents.models.seats import HoldReason
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
from tests.support.people import encoded_password
from tests.tracker.company import COMPANY, act, create

Arguments = dict[str, Any]
Arrange = Callable[[World], Arguments]
NO_ID = UUID("018f0000-0000-7000-8000-000000000000")
DIGEST = "ab" * 32


@dataclass(frozen=True)
class Example:
    """How one action is called.

    `good` arranges the world and returns arguments that work; `other` changes them into another
    call. `bad` is a field and a value its model refuses. `missing` names something that is not
    there. `agent` acts at the tool door; `refused_agent` lacks the authority there. `refused`
    changes the arguments into a call that a person without grants is refused, `open` says why
    anybody who is signed in may do it. `signs_out`: the caller's own browser is signed out by it.
    """

    good: Arrange
    bad: tuple[str, Any]
    other: Mapping[str, Any] = field(default_factory=dict)
    missing: Mapping[str, Any] | None = None
    missing_code: str = "not_found"
    agent: str = "agent-cto"
    refused_agent: str = ""
    refused: Mapping[str, Any] = field(default_factory=dict)
    refused_code: str = "forbidden"
    open: str = ""
    signs_out: bool = False


def just(**args: Any) -> Arrange:
    """A call that needs nothing arranged."""
    return lambda _world: args


def kim_is(stage: str) -> Arrange:
    """Kim is in a stage of her life here."""

    def arrange(_world: World) -> Arguments:
        Person.objects.filter(login=KIM).update(stage=stage)
        return {"login": KIM}

    return arrange


def _a_session(world: World) -> Arguments:
    world.sign_in(world.kim)
    return {"session": str(SessionRecord.objects.get(person=world.kim).id)}


def _sessions_of_kim(world: World) -> Arguments:
    world.sign_in(world.kim)
    return {"login": KIM}


def _a_token(world: World) -> Arguments:
    from orgs.models.people import Credential, CredentialKind

    Credential.objects.create(
        kind=CredentialKind.TOKEN, label="robot", person=None, digest=DIGEST,
        grants=["state:read"], created_at=clock.now(), created_by="ana",
    )  # fmt: skip
    return {"label": "robot"}


def an_item_ref(world: World) -> Arguments:
    """An item of the person, by its reference."""
    return {"ref": f"item:{create(world.agent('agent-cto')).key}"}


def _no_company(world: World) -> Arguments:
    """The store as it was before the first company: nobody holds a seat, nothing runs."""
    Person.objects.update(seat=None)
    Company.objects.update(active_revision=None)
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("TRUNCATE orgs_activation")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")
    return {"name": "Harbour Bakery", "template": "new", "thinking": "rehearsal"}


def _a_notice(world: World) -> Arguments:
    notice = notify(
        world.seat("ana"), "mention", reason="mention", title="Kim mentions you", body="Look.",
        ref="item:ENG-1", event_id=new_id(),
    )  # fmt: skip
    assert notice is not None
    return {"read": [str(notice.id)]}


def _two_revisions(_world: World) -> Arguments:
    first = ConfigRevision.objects.get()
    changed = COMPANY.replace("Light where it is needed", "Light for all")
    apply_document(engine_actor("tests"), changed, summary="Another aim")
    return {"revision": str(first.id)}


def _a_paused_seat(world: World) -> Arguments:
    holds.put(world.seat("agent-swe"), HoldReason.SEAT_PAUSED, by="ana", now=clock.now())
    return {"seat": "agent-swe"}


def _a_worker(_world: World) -> Arguments:
    a_node("one")
    return {"node": "one"}


def _a_letter_of(world: World) -> UUID:
    letter = a_letter("Please look")
    post_now(world.seat("agent-swe"), letter)
    return letter.event_id


def _a_running_turn(world: World) -> Arguments:
    event = _a_letter_of(world)
    with connection.cursor() as cursor:
        turn = an_open_turn(cursor, world.seat("agent-swe"), [event], stage="phase")
    return {"turn": str(turn), "reason": "Wrong lamp"}


def _a_dead_letter(world: World) -> Arguments:
    event = _a_letter_of(world)
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


def an_attachment(world: World) -> Arguments:
    """A file on an item."""
    args = an_upload(world)
    ana = session_actor(world.ana)
    attached = perform(ana, "attach_file", args, op_id=None, door=Door.REST).unwrap()
    return {"item": args["item"], "attachment": attached.data["id"]}


def _two_items(world: World) -> Arguments:
    cto = world.agent("agent-cto")
    create(cto, "Fix the switch", project="ENG")
    item = create(cto, "Order glass", project="ENG")
    return {"item": item.key, "if_match": item.version, "before": "ENG-1"}


DECISION = {
    "question": "Which glass?",
    "role": "approver",
    "options": [{"id": "clear", "label": "Clear"}, {"id": "frosted", "label": "Frosted"}],
}

EXAMPLES: dict[str, Example] = {
    # -- people ------------------------------------------------------------------------------------
    "create_person": Example(
        just(login="mia.berg", name="Mia Berg", grants=["state:read"], seat="omar"),
        bad=("login", "nodot"),
        other={"login": "mia.berg2"},
        missing={"seat": "nobody-here"},
    ),
    "invite_person": Example(
        just(login=KIM, digest=DIGEST),
        bad=("digest", "short"),
        other={"digest": "cd" * 32},
        missing={"login": "gone.person"},
    ),
    "bind_person": Example(
        just(login=KIM, seat="omar"),
        bad=("login", "x" * 65),
        other={"seat": ""},
        missing={"login": "gone.person"},
    ),
    "set_grants": Example(
        just(login=KIM, grants=["state:read"]),
        bad=("grants", ["state:everything"]),
        other={"grants": ["work:write"]},
        missing={"login": "gone.person"},
    ),
    "suspend_person": Example(
        kim_is("active"),
        bad=("login", "x" * 65),
        other={"login": "no.body"},
        missing={"login": "gone.person"},
    ),
    "activate_person": Example(
        kim_is("suspended"),
        bad=("login", "x" * 65),
        other={"login": "no.body"},
        missing={"login": "gone.person"},
    ),
    "set_password": Example(
        lambda _world: {"encoded": encoded_password()},
        bad=("encoded", "x" * 257),
        other={"encoded": "$argon2id$v=19$m=1,t=1,p=1$AAAA$AAAA"},
        open="everybody has a password of their own",
        signs_out=True,
    ),
    "end_session": Example(
        _a_session,
        bad=("session", "that-one"),
        other={"session": str(NO_ID)},
        missing={"session": str(NO_ID)},
        refused_code="not_found",
    ),
    "end_all_sessions": Example(
        _sessions_of_kim,
        bad=("login", "x" * 65),
        other={"login": "no.body"},
        missing={"login": "gone.person"},
    ),
    "create_token": Example(
        just(label="robot", digest=DIGEST, grants=["state:read"], days=7),
        bad=("days", 0),
        other={"label": "robot2"},
        missing={"login": "gone.person"},
    ),
    "revoke_token": Example(
        _a_token,
        bad=("label", "No Spaces"),
        other={"label": "robot2"},
        missing={"label": "gone"},
        refused_code="not_found",
    ),
    "mark_inbox": Example(
        _a_notice,
        bad=("read", ["that-one"]),
        other={"read": [], "done": ["ask:1"]},
        missing={"read": [str(NO_ID)]},
    ),
    "snooze_inbox": Example(
        just(ref="ask:1", until="tomorrow"),
        bad=("ref", ""),
        other={"until": "monday"},
        missing={"ref": str(NO_ID)},
    ),
    # -- the company -------------------------------------------------------------------------------
    "check_company": Example(
        just(document=COMPANY),
        bad=("base", "the-last-one"),
        other={"document": COMPANY + "\n"},
    ),
    "apply_company": Example(
        just(document=COMPANY.replace("Light where", "Lamps where"), summary="Say lamps"),
        bad=("base", "the-last-one"),
        other={"summary": "Say it again"},
    ),
    "activate_revision": Example(
        _two_revisions,
        bad=("revision", "the-last-one"),
        other={"summary": "Again"},
        missing={"revision": str(NO_ID)},
    ),
    # -- seats and nodes ---------------------------------------------------------------------------
    "lookup_colleague": Example(
        just(query="omar"),
        bad=("query", "q" * 201),
        other={"query": "qa"},
        missing={"query": "zebedee"},
    ),
    "a2a_ask": Example(
        just(target="agent-swe", brief="Which firmware ships?"),
        bad=("target", ""),
        other={"brief": "Which lamp?"},
        missing={"target": "zebedee"},
        missing_code="invalid",
    ),
    "reflect_and_persist": Example(
        just(content="The mill closes at four."),
        bad=("days", 0),
        other={"content": "It opens at six."},
    ),
    "pause_seat": Example(
        just(seat="agent-swe", reason="Wait for the parts"),
        bad=("reason", "x" * 501),
        other={"seat": "qa"},
        missing={"seat": "agent-sw"},
    ),
    "resume_seat": Example(
        _a_paused_seat,
        bad=("seat", "x" * 65),
        other={"seat": "qa"},
        missing={"seat": "agent-sw"},
    ),
    "stop_turn": Example(
        _a_running_turn,
        bad=("turn", "that-one"),
        other={"reason": "Wrong glass"},
        missing={"turn": str(NO_ID)},
    ),
    "drain_node": Example(
        _a_worker,
        bad=("node", "x" * 81),
        other={"node": "two"},
        missing={"node": "two"},
    ),
    "end_node": Example(
        _a_worker,
        bad=("node", "x" * 81),
        other={"node": "two"},
        missing={"node": "two"},
    ),
    "replay_dead_letter": Example(
        _a_dead_letter,
        bad=("letter", "that-one"),
        other={"letter": str(NO_ID)},
        missing={"letter": str(NO_ID)},
    ),
    "discard_dead_letter": Example(
        _a_dead_letter,
        bad=("letter", "that-one"),
        other={"letter": str(NO_ID)},
        missing={"letter": str(NO_ID)},
    ),
    # -- work --------------------------------------------------------------------------------------
    "create_work_item": Example(
        just(title="Order glass", project="ENG", assignee="qa", due="2027-05-01", priority="high"),
        bad=("title", ""),
        other={"title": "Order clear glass"},
        missing={"assignee": "zebedee"},
        missing_code="invalid",
    ),
    "update_work_item": Example(
        an_item(status="in_progress", title="Fix both switches"),
        bad=("priority", "mega"),
        other={"title": "Fix it"},
        missing={"item": "ENG-9"},
        agent="qa",
    ),
    "comment_on_work_item": Example(
        an_item(body="@packer which one?", ask="omar", decision=DECISION),
        bad=("reply_to", "x" * 201),
        other={"body": "@packer both?"},
        missing={"item": "ENG-9"},
        agent="qa",
    ),
    "place_work_item": Example(
        _two_items,
        bad=("if_match", "latest"),
        other={"before": "", "after": "ENG-1"},
        missing={"item": "ENG-9"},
    ),
    "get_work_item": Example(
        an_item(include=["comments", "links"]),
        bad=("item", ""),
        other={"body": False},
        missing={"item": "ENG-9"},
    ),
    "list_work_items": Example(
        lambda world: an_item()(world) and {"project": "ENG", "open_only": True},
        bad=("limit", 0),
        other={"open_only": False},
    ),
    "my_work": Example(just(), bad=("whose", "omar")),
    # -- preferences and the first run -------------------------------------------------------------
    "star": Example(
        an_item_ref,
        bad=("ref", "no colon"),
        other={"ref": "person:kim.cho"},
        missing={"ref": "item:ENG-9"},
    ),
    "unstar": Example(just(ref="item:ENG-1"), bad=("ref", "no colon"), other={"ref": "item:A-2"}),
    "set_preferences": Example(
        just(theme="dark", timezone="Asia/Tokyo", single_keys=False),
        bad=("theme", "sepia"),
        other={"theme": "light"},
    ),
    "create_company": Example(
        _no_company,
        bad=("template", "giant"),
        other={"name": "Another"},
    ),
    # -- parts of the company document -------------------------------------------------------------
    "patch_company": Example(
        just(patch={"mission": "Lamps for all"}, summary="A wider aim"),
        bad=("base", "the-last-one"),
        other={"summary": "Say it again"},
        missing={"base": str(NO_ID)},
    ),
    "put_company_part": Example(
        just(
            kind="llm-providers",
            address="spare",
            part={"type": "rehearsal"},
            create=True,
            summary="A spare model",
        ),
        bad=("kind", "people"),
        other={"summary": "Say it again"},
        missing={"base": str(NO_ID)},
    ),
    "reload_company": Example(
        just(summary="New keys"),
        bad=("summary", "x" * 501),
        other={"summary": "Newer keys"},
    ),
    # -- models ------------------------------------------------------------------------------------
    "test_provider": Example(
        just(provider="play"),
        bad=("provider", "x" * 65),
        other={"provider": "plai"},
        missing={"provider": "plai"},
    ),
    # files and search
    "list_project_files": Example(
        just(project="ENG"), bad=("limit", 0), missing={"project": "NOPE"}, missing_code="invalid"
    ),
    "read_project_file": Example(a_file, bad=("max_bytes", 1), missing={"path": "none.md"}),
    "write_project_file": Example(
        just(project="ENG", path="notes.md", content="one"),
        bad=("path", "../up"),
        other={"content": "two"},
        missing={"project": "NOPE"},
        missing_code="invalid",
    ),
    "remove_project_file": Example(
        a_file, bad=("path", "a//b"), other={"path": "b.md"}, missing={"path": "none.md"}
    ),
    "attach_file": Example(
        an_upload,
        bad=("sha256", "short"),
        other={"name": "other.txt"},
        missing={"item": "ENG-9"},
    ),
    "remove_attachment": Example(
        an_attachment,
        bad=("attachment", ""),
        other={"attachment": str(NO_ID)},
        missing={"attachment": str(NO_ID)},
    ),
    "search_work_items": Example(
        lambda world: an_item()(world) and {"q": "lamp"}, bad=("limit", 0), other={"q": "other"}
    ),
}
