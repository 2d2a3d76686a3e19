"""One example an action: a good call, a bad field, who may not, what is not there.

To add an action, add its `Example` below under its own name; the suite does the rest at every door
the action lists, and writes its query counts with `CREWLET_BANK_QUERIES=1 pytest tests/contract`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.contract.arranged import (
    DIGEST,
    NO_ID,
    Arrange,
    a_call_that_needs_leave,
    a_dead_letter,
    a_failed_turn,
    a_file,
    a_note_to_a_turn,
    a_notice,
    a_paused_seat,
    a_project_upload,
    a_question,
    a_removed_item,
    a_running_turn,
    a_session,
    a_token,
    a_worker,
    an_attachment,
    an_item,
    an_item_ref,
    an_upload,
    just,
    kim_is,
    no_company,
    sessions_of_kim,
    tool_servers,
    two_items,
    two_revisions,
)
from tests.contract.world import KIM
from tests.support.people import encoded_password
from tests.tracker.company import COMPANY


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
        a_session,
        bad=("session", "that-one"),
        other={"session": str(NO_ID)},
        missing={"session": str(NO_ID)},
        refused_code="not_found",
    ),
    "end_all_sessions": Example(
        sessions_of_kim,
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
        a_token,
        bad=("label", "No Spaces"),
        other={"label": "robot2"},
        missing={"label": "gone"},
        refused_code="not_found",
    ),
    "mark_inbox": Example(
        a_notice,
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
        two_revisions,
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
        a_paused_seat,
        bad=("seat", "x" * 65),
        other={"seat": "qa"},
        missing={"seat": "agent-sw"},
    ),
    "stop_turn": Example(
        a_running_turn,
        bad=("turn", "that-one"),
        other={"reason": "Wrong glass"},
        missing={"turn": str(NO_ID)},
    ),
    "rerun_turn": Example(
        a_failed_turn,
        bad=("turn", "that-one"),
        other={"reason": "The model is back"},
        missing={"turn": str(NO_ID)},
    ),
    "steer_turn": Example(
        a_note_to_a_turn,
        bad=("note", "x" * 2001),
        other={"note": "Mind the glass"},
        missing={"turn": str(NO_ID)},
    ),
    "answer_wait": Example(
        a_question,
        bad=("wait", "that-one"),
        other={"answer": "No"},
        missing={"wait": str(NO_ID)},
    ),
    "decide_call": Example(
        a_call_that_needs_leave,
        bad=("decision", "perhaps"),
        other={"decision": "deny", "reason": "Not now"},
        missing={"wait": str(NO_ID)},
    ),
    "drain_node": Example(
        a_worker,
        bad=("node", "x" * 81),
        other={"node": "two"},
        missing={"node": "two"},
    ),
    "end_node": Example(
        a_worker,
        bad=("node", "x" * 81),
        other={"node": "two"},
        missing={"node": "two"},
    ),
    "replay_dead_letter": Example(
        a_dead_letter,
        bad=("letter", "that-one"),
        other={"letter": str(NO_ID)},
        missing={"letter": str(NO_ID)},
    ),
    "discard_dead_letter": Example(
        a_dead_letter,
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
        two_items,
        bad=("if_match", "latest"),
        other={"before": "", "after": "ENG-1"},
        missing={"item": "ENG-9"},
    ),
    "remove_work_item": Example(
        an_item(subtree=True, reason="Filed twice."),
        bad=("subtree", "perhaps"),
        other={"reason": "Not ours."},
        missing={"item": "ENG-9"},
    ),
    "restore_work_item": Example(
        a_removed_item,
        bad=("item", ""),
        other={"item": "ENG-2"},
        missing={"item": "ENG-9"},
    ),
    "purge_work_item": Example(
        an_item(key="ENG-1", reason="It held a customer's data."),
        bad=("reason", ""),
        other={"reason": "Filed twice."},
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
    "set_email": Example(
        just(level="all", address="ana@harbour.example"),
        bad=("level", "some"),
        other={"level": "off"},
    ),
    "create_company": Example(
        no_company,
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
    "refresh_mcp_server": Example(
        tool_servers,
        bad=("server", "x" * 201),
        other={"server": "crate"},
        missing={"server": "nowhere"},
    ),
    "list_projects": Example(
        lambda world: an_item()(world) and {"sort": "-open"},
        bad=("archived", "maybe"),
        other={"q": "eng"},
    ),
    "write_project": Example(
        just(project="ENG", default_assignee="qa", tags_add=[{"label": "Night shift"}]),
        bad=("archived", "perhaps"),
        other={"default_assignee": "none"},
        missing={"project": "NOPE"},
        missing_code="invalid",
        refused_agent="agent-swe",
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
    "put_project_file": Example(
        a_project_upload,
        bad=("sha256", "short"),
        other={"path": "docs/other.txt"},
        missing={"project": "NOPE"},
        missing_code="invalid",
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
