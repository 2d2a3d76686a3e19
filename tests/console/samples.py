"""A small company as the queries would answer it: what the page tests draw without a database."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any
from uuid import UUID

from crewlet.kernel import clock
from orgs.chart import ChartSeat, ChartUnit

TURN_ID = UUID("01990000-0000-7000-8000-000000000001")
STATUSES = [
    {"id": "todo", "name": "To do", "group": "not_started"},
    {"id": "in_progress", "name": "In progress", "group": "active"},
    {"id": "in_review", "name": "In review", "group": "active"},
    {"id": "done", "name": "Done", "group": "done"},
]
PRIORITIES = [{"id": name, "name": name.title()} for name in ("urgent", "high", "normal", "none")]
_UNITS = {
    "product": ("Product", ("petra", "nils", "dana")),
    "engineering": ("Engineering", ("edith", "kofi", "lena", "ravi", "sol")),
    "growth": ("Growth", ("marco", "iris", "bo")),
    "support": ("Support", ("yuki", "omar", "wen")),
    "finance": ("Finance and ops", ("jonas", "greta", "theo")),
}
_NAMES = {
    "ana": "Ana Ruiz", "petra": "Petra Novak", "nils": "Nils Berg", "dana": "Dana Okafor",
    "edith": "Edith Lang", "kofi": "Kofi Mensah", "lena": "Lena Fischer", "ravi": "Ravi Iyer",
    "sol": "Sol Park", "marco": "Marco Leone", "iris": "Iris Chen", "bo": "Bo Almeida",
    "yuki": "Yuki Tanaka", "omar": "Omar Haddad", "wen": "Wen Li", "jonas": "Jonas Lind",
    "greta": "Greta Holm", "theo": "Theo Marsh",
}  # fmt: skip
_PEOPLE = {"ana", "dana", "jonas"}
_FACES: dict[str, dict[str, Any]] = {
    "petra": {"activity": "working", "word": "Working", "reason": "execute, round 4",
              "key": "PRD-31", "what": "Cut scope for release 2.4", "secs": 192, "pct": 33},
    "edith": {"activity": "working", "word": "Working", "reason": "review, round 1",
              "key": "ENG-138", "what": "Ledger migration: split postings", "secs": 41, "pct": 25},
    "kofi": {"activity": "working", "word": "Working", "reason": "execute, round 5",
             "key": "ENG-142", "what": "Invoice totals drift by a cent", "secs": 409, "pct": 21},
    "iris": {"activity": "working", "word": "Working", "reason": "execute, round 1",
             "key": "GRO-22", "what": "Changelog and launch post", "secs": 77, "pct": 8},
    "ravi": {"activity": "needs", "word": "Needs Edith", "reason": "to approve",
             "key": "ENG-150", "what": "Delete stale fixtures", "secs": 1080},
    "omar": {"activity": "needs", "word": "Needs you", "reason": "to decide", "key": "SUP-84",
             "what": "Refund three annual plans", "secs": 3840},
    "sol": {"activity": "stopped", "word": "Stopped", "reason": "budget, until Mon 00:00",
            "what": "7 messages held in order"},
    "theo": {"activity": "stopped", "word": "Stopped", "reason": "paused by Jonas",
             "what": "Supplier list is being checked",
             "paused": {"by": "jonas", "at": clock.now() - timedelta(hours=2),
                        "reason": "Supplier list is being checked", "stop_running": False}},
}  # fmt: skip


def party(handle: str) -> dict[str, Any]:
    """Returns a seat of the sample company as somebody on a page."""
    kind = "human" if handle in _PEOPLE else "agent"
    url = f"/agents/seats/{handle}"
    return {"handle": handle, "name": _NAMES[handle], "kind": kind, "url": url}


def unit_of(handle: str) -> str:
    """Returns the name of a seat's unit, or nothing."""
    return next((name for name, members in _UNITS.values() if handle in members), "")


def seat_rows(actor: Any = None) -> list[dict[str, Any]]:
    """Returns a row per seat."""
    rows = []
    for handle in _NAMES:
        person = handle in _PEOPLE
        face: dict[str, Any] = {
            "activity": "idle", "word": "Person" if person else "Idle", "key": "", "what": "",
            "reason": "", "secs": None, "pct": None, "turn": None, "last_turn": None,
            "paused": None, "stopped_reason": None,
        }  # fmt: skip
        face |= _FACES.get(handle, {})
        if face["activity"] == "working":
            face["turn"] = {"turn_id": str(TURN_ID), "title": face["what"], "stage": "phase"}
        rows.append({**party(handle), "role": unit_of(handle), "unit": "", **face})
    return rows


def chart() -> Any:
    """Returns the sample chart: the founder at the root, five units."""
    seats: dict[str, ChartSeat] = {}
    for handle, name in _NAMES.items():
        unit = next((key for key, (_, members) in _UNITS.items() if handle in members), None)
        seats[handle] = ChartSeat(
            handle=handle, name=name, kind="human" if handle in _PEOPLE else "agent", unit=unit,
            goal="", backstory="", responsibilities=(), behavioral_guidelines=(), project=None,
            path=(), declared_at_root=unit is None,
        )  # fmt: skip
    units = {
        key: ChartUnit(
            key=key, name=name, type="team", purpose="", goals=(), parent=None, children=(),
            members=members, lead=members[0], lead_inherited=False, project=None, space=None,
            channel=None, path=(),
        )
        for key, (name, members) in _UNITS.items()
    }  # fmt: skip
    return SimpleNamespace(seats=seats, units=units, walk=lambda: iter(seats.values()))


def turn_row(handle: str, title: str, **more: Any) -> dict[str, Any]:
    """Returns a turn as lists show it, running unless told otherwise."""
    now = clock.now()
    row = {
        "id": str(TURN_ID), "seat": party(handle), "role": unit_of(handle), "title": title,
        "item": {"key": "ENG-142", "title": title, "url": "/work/ENG-142"}, "stage": "phase",
        "phase": "execute", "iteration": 2, "round": 5, "max_rounds": 24, "park_reason": "",
        "outcome": None, "decision": "", "submitted": "", "error_kind": "", "error": "",
        "started_at": now - timedelta(seconds=761), "ended_at": None, "secs": 761,
        "tokens_in": 184_200, "tokens_out": 9_800, "calls": 31, "rounds": 15, "node": "worker-2",
        "last_call": "run_tests", "updated_at": now, "attempt": 1,
    }  # fmt: skip
    return row | more


def ended_rows() -> list[dict[str, Any]]:
    """Returns one ended turn of each outcome."""
    at = clock.now() - timedelta(minutes=12)
    ends: dict[str, Any] = {"stage": "done", "ended_at": at, "secs": 312}
    return [
        turn_row("iris", "Changelog and launch post", **ends, id="a1", outcome="completed",
                 submitted="delivered", iteration=1),
        turn_row("edith", "Ledger migration", **ends, id="a2", outcome="completed",
                 submitted="delivered", iteration=2),
        turn_row("sol", "Rotate the webhook secret", **ends, id="a3", outcome="failed",
                 error_kind="provider_timeout"),
        turn_row("bo", "Weekly search report", **ends, id="a4", outcome="skipped", iteration=1),
    ]  # fmt: skip


def _call(order: int, name: str, args: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {
        "ord": order, "name": name, "server": "", "args": args, "args_text": "", "status": "done",
        "ok": True, "result": "done", "refs": [], "ms": 100, "started_at": clock.now(), **more,
    }  # fmt: skip


def _round(number: int, content: str, calls: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return {
        "n": number, "started_at": clock.now(), "ms": 1600, "stop_reason": "tool_use",
        "reasoning": "The ledger rounds half-even. The fix has to agree with it.",
        "content": content, "tokens_in": 9000 + 800 * number, "tokens_out": 400, "note": "",
        "steer": [], "calls": calls, **more,
    }  # fmt: skip


def _phase(phase: str, iteration: int, start: int, end: int | None, **more: Any) -> dict[str, Any]:
    now = clock.now()
    began = now - timedelta(seconds=761)
    return {
        "id": f"{phase}-{iteration}", "phase": phase, "iteration": iteration,
        "status": "done" if end else "running", "model": "claude-sonnet-4-5",
        "provider_key": "default", "started_at": began + timedelta(seconds=start),
        "ended_at": began + timedelta(seconds=end) if end else None, "max_rounds": 24,
        "error_kind": "", "error": "", "submission": None, "system": "# Identity\nYou are Kofi.\n",
        "user": "# Item\nInvoice totals drift.\n",
        "system_outline": [{"key": "identity", "title": "Identity", "bytes": 26}],
        "user_outline": [{"key": "task", "title": "The item", "bytes": 29}],
        "tools": [{"name": "comment_on_work_item", "server": ""}, {"name": "create_work_item"}],
        "tokens_in": 41_200, "tokens_out": 2_100, "verdict": None, "engine_correction": "",
        "rounds": [], **more,
    }  # fmt: skip


def _first_pass() -> dict[str, Any]:
    """Returns the pass that is sent back."""
    outline = [
        {"key": key, "title": title, "bytes": size}
        for key, title, size in (
            ("identity", "Identity", 412), ("company", "Company context", 1840),
            ("responsibilities", "Responsibilities", 1228), ("policies", "Policies", 2252),
            ("thread", "Thread so far", 5120), ("knowledge", "Relevant knowledge", 7372),
            ("tools", "Available tools", 2662),
        )
    ]  # fmt: skip
    return _phase(
        "execute", 1, 2, 314, system_outline=outline,
        system="x" * sum(int(str(part["bytes"])) for part in outline),
        rounds=[
            _round(0, "I read the item and the two failing notes first.",
                   [_call(0, "get_work_item", {"item": "ENG-142"})]),
            _round(1, "Root cause found: the total is rounded per line and then added.",
                   [_call(0, "comment_on_work_item",
                          {"item": "ENG-142", "body": "Root cause found"},
                          refs=["comment:ENG-142"])]),
        ],
        submission={"outcome": "delivered", "summary": "Fixed"},
        engine_correction="Nothing on record reached Petra, who waits for an answer.",
    )  # fmt: skip


def turn_detail(actor: Any = None, turn_id: Any = None) -> dict[str, Any]:
    """Returns a running turn: sent back once, in the middle of its second pass."""
    review = _phase(
        "review", 1, 314, 352, model="claude-opus-4-5",
        rounds=[_round(0, "", [_call(0, "submit_review", {"decision": "self_iterate"})])],
        verdict={
            "decision": "self_iterate", "completed_work": "Root cause found. Two failing tests.",
            "notes": "The fix is real, but nothing has reached Petra and the count is missing.",
        },
    )  # fmt: skip
    steer = [{"by": "ana", "note": "Keep the fix and the correction apart.", "at": clock.now()}]
    second = _phase(
        "execute", 2, 352, None,
        rounds=[
            _round(0, "The review is right. Counting first.",
                   [_call(0, "list_work_items", {"project": "ENG"})]),
            _round(1, "37 notes carry the drift. Asking who approves corrections.",
                   [_call(0, "lookup_colleague", {"query": "who approves"}, result="Ana Ruiz")]),
            _round(2, "Understood. The fix ships alone.",
                   [_call(0, "create_work_item", {"title": "Correct 37 issued credit notes"},
                          refs=["item:ENG-151"]),
                    _call(1, "comment_on_work_item", {"item": "ENG-142", "ask": "ana"})],
                   steer=steer),
            _round(3, "Edith asked for half-even rounding, as the ledger does.",
                   [_call(0, "code.edit_file", {"path": "billing/rounding.py"}),
                    _call(1, "code.run_tests", {"path": "tests/billing"}, ok=False, ms=21_700,
                          result="AssertionError: expected JPY 1200, got JPY 1200.00")],
                   note="A test failed; the round counts."),
        ],
    )  # fmt: skip
    return turn_row("kofi", "Invoice totals drift by a cent on multi-currency credit notes") | {
        "trigger": {
            "text": "Item: ENG-142\n\nPetra assigned it to you.", "summary": "Assigned ENG-142",
            "kind": "work", "by": party("petra"), "at": clock.now(), "url": "/work/ENG-142",
        },
        "result": "", "correction": "", "cache_read": 130_000, "node_lost": 0,
        "stop_request": None, "notes": [], "phases": [_first_pass(), review, second],
    }  # fmt: skip


def item_row(key: str, title: str, status: str = "todo", **more: Any) -> dict[str, Any]:
    """Returns an item as lists show it."""
    found = next(row for row in STATUSES if row["id"] == status)
    row: dict[str, Any] = {
        "key": key, "id": key, "url": f"/work/{key}", "title": title, "project": key[:3],
        "status": status, "status_name": found["name"], "group": found["group"],
        "priority": "normal", "assignee": party("kofi"), "reporter": party("petra"),
        "parent": None, "labels": [], "due": None, "due_at": None, "overdue": False, "comments": 0,
        "subs": None, "version": 3, "created_at": clock.now() - timedelta(days=2),
        "updated_at": clock.now() - timedelta(minutes=20), "waiting": "", "blocked": "",
        "live": None,
    }  # fmt: skip
    return row | more


def board_items() -> list[dict[str, Any]]:
    """Returns the items of the sample project."""
    running = {"turn_id": str(TURN_ID), "who": party("kofi"), "text": "Execute, round 5 of 24",
               "secs": 409}  # fmt: skip
    today = clock.now().date()
    return [
        item_row("ENG-151", "Correct 37 issued credit notes", priority="high", comments=1,
                 labels=["billing"], blocked="Blocked by ENG-142"),
        item_row("ENG-149", "Rotate the webhook signing secret without dropping events",
                 assignee=party("sol"), labels=["security"], due=today - timedelta(days=1),
                 overdue=True, subs={"done": 0, "total": 4}),
        item_row("ENG-146", "Rate-limit the public invoice link", assignee=party("edith"),
                 priority="low"),
        item_row("ENG-144", "Replace the PDF queue's retry sleep with a schedule",
                 priority="none", assignee=None),
        item_row("ENG-142", "Invoice totals drift by a cent on multi-currency credit notes",
                 "in_progress", priority="urgent", labels=["billing", "release 2.4"], comments=6,
                 subs={"done": 3, "total": 5}, live=running),
        item_row("ENG-147", "Currency picker: keyboard and screen reader pass", "in_progress",
                 assignee=party("lena"), priority="high", comments=2),
        item_row("ENG-150", "Delete 214 stale fixtures from the import suite", "in_progress",
                 assignee=party("ravi"), waiting="Waiting on Edith Lang, 18 min", comments=3),
        item_row("ENG-138", "Ledger migration: split postings by entity", "in_review",
                 assignee=party("edith"), priority="urgent", comments=11),
        item_row("ENG-140", "Export: stream rows instead of building the file in memory",
                 "in_review", comments=4),
        item_row("ENG-137", "Invoices list: keep the scroll position on Back", "done",
                 assignee=party("lena"), comments=2),
        item_row("ENG-135", "Alert when the webhook backlog passes 5 minutes", "done",
                 assignee=party("sol"), comments=3),
    ]  # fmt: skip


def projects(actor: Any = None) -> list[dict[str, Any]]:
    """Returns four projects."""
    return [
        {"key": key, "name": name, "purpose": f"Everything of {name}", "unit": name,
         "url": f"/work/{key}", "open": count, "left": False,
         "archived": False, "last_change": None,
         "counts": {"todo": count - 2, "active": 2, "done": 12, "closed": 1}}
        for key, name, count in (("ENG", "Engineering", 18), ("PRD", "Product", 7),
                                 ("GRO", "Growth", 11), ("SUP", "Support", 5))
    ]  # fmt: skip


def work_page(actor: Any = None, **asked: Any) -> dict[str, Any]:
    """Returns the list or the board."""
    items = board_items()
    lanes = [
        {"id": status["id"], "title": status["name"], "note": "",
         "items": [row for row in items if row["status"] == status["id"]],
         "total": sum(1 for row in items if row["status"] == status["id"])}
        for status in STATUSES
    ]  # fmt: skip
    project = projects()[0] if asked.get("project") else None
    return {
        "project": project, "items": items, "lanes": lanes, "total": len(items), "next": "",
        "columns": [], "tags": [], "totals": {},
        "statuses": STATUSES, "assignees": [party(handle) for handle in _NAMES],
    }  # fmt: skip


def ask() -> dict[str, Any]:
    """Returns an open decision."""
    from crewlet.console.kit import samples

    card: dict[str, Any] = samples()["ask"]
    item = {"key": "ENG-142", "title": "Invoice totals drift", "url": "/work/ENG-142"}
    return {**card, "id": "c1", "item": item}


def item_page(actor: Any = None, key: str = "ENG-142") -> dict[str, Any]:
    """Returns an item with everything around it."""
    items = {row["key"]: row for row in board_items()}
    at = clock.now() - timedelta(hours=3)

    def row(number: int, kind: str, who: str, **more: Any) -> dict[str, Any]:
        return {
            "id": f"x{number}", "kind": kind, "who": party(who), "at": at, "text": "", "body": "",
            "reach": "", "url": "", "meta": "", "to": None, "change": "", "answers": "",
            "reply_to": "", "open": False, **more,
        }  # fmt: skip

    return {
        "item": items["ENG-142"] | {
            "unit": "Engineering", "parent": None, "wakes_stopped_at": None,
            "body": "When a credit note is issued in another currency, the total can differ by "
                    "one cent. We round *per line*, then add.\n\nExpected: `sum(lines)` equals "
                    "`total`. Ask @edith, see ENG-138. <script>alert(1)</script>",
        },
        "subs": [item_row("ENG-152", "Property test: the sum equals the total", "done"),
                 item_row("ENG-153", "Half-even rounding", "done"),
                 item_row("ENG-155", "Changelog entry", assignee=party("iris"))],
        "blocked_by": [], "blocking": [items["ENG-151"]], "asks": [ask()],
        "activity": [
            row(1, "change", "petra", text="filed it", change="created"),
            row(2, "change", "petra", text="assigned it to Kofi Mensah", change="assignee",
                reach="told @kofi (assignee)"),
            row(3, "turn", "kofi", text="worked on it", url=f"/live/turns/{TURN_ID}",
                meta="sent back once"),
            row(4, "comment", "kofi", body="Root cause found: we round **per line**."),
            row(5, "comment", "ana", body="@kofi please count the notes first."),
            row(6, "turn", "kofi", open=True, url=f"/live/turns/{TURN_ID}"),
        ],
        "watchers": [party("ana"), party("petra"), party("edith"), party("kofi")],
        "cost": {"turns": 2, "tokens": 194_000, "secs": 720, "sent_back": 1}, "turns": [],
        "statuses": STATUSES, "priorities": PRIORITIES,
        "assignees": [party(handle) for handle in _NAMES],
    }  # fmt: skip


def seat_detail(actor: Any = None, handle: str = "kofi") -> dict[str, Any]:
    """Returns a seat with everything around it."""
    rows = {row["handle"]: row for row in seat_rows()}
    return {
        "row": rows[handle],
        "about": {
            "goal": "Every invoice adds up.", "backstory": "Wrote the ledger.",
            "responsibilities": ["Billing", "The ledger"], "guidelines": ["Say what you counted."],
            "unit": {"key": "engineering", "name": "Engineering"}, "managers": [party("edith")],
            "reports": [], "project": "ENG",
        },
        "waiting": 1,
        "waiting_rows": [{"at": clock.now(), "title": "Edith commented", "kind": "work"}],
        "budget": [{"kind": "week", "used": 18_400_000, "limit": 40_000_000, "state": "ok"}],
        "stats": {"turns_7d": 31, "completed_7d": 27, "failed_7d": 1, "sent_back_7d": 6,
                  "tokens_7d": 4_100_000},
    }  # fmt: skip


def inbox_page(actor: Any = None, **asked: Any) -> dict[str, Any]:
    """Returns an inbox with a decision and two notices."""
    now, card = clock.now(), ask()
    waiting = {
        "kind": "ask", "ref": "ask:c1", "title": card["question"], "who": card["who"],
        "summary": "ENG-142 Invoice totals drift", "at": card["at"], "reason": "You are asked",
        "url": "/work/ENG-142", "card": "tracker/_ask.html", "context": {"ask": card},
    }  # fmt: skip

    def notice(ident: str, who: str, title: str, *, read: bool) -> dict[str, Any]:
        return {
            "id": ident, "ref": "item:ENG-138", "title": title, "body": "It is ready for a look.",
            "who": party(who), "at": now - timedelta(hours=1), "reason": "You are mentioned",
            "kind": "work", "url": "/work/ENG-138", "read": read, "primary": True,
        }  # fmt: skip

    return {
        "scope": "unread", "decisions": [waiting],
        "days": [
            {"title": "Today", "rows": [
                notice("n1", "edith", "Edith mentioned you on ENG-138", read=False),
                notice("n2", "iris", "Iris finished GRO-22", read=True)]},
        ],
        "next": "", "unread": 1, "badge": 2, "through": "n1", "hint": "",
        "snooze": [{"id": "1h", "title": "In 1 hour"}, {"id": "tomorrow", "title": "Tomorrow"}],
    }  # fmt: skip


def feed(actor: Any = None, **asked: Any) -> dict[str, Any]:
    """Returns five events; two tell of turns that had nothing to do."""
    at = clock.now() - timedelta(minutes=7)
    return {
        "events": [
            {"id": "e0", "at": at, "type": "agent_turn_completed", "category": "turn",
             "who": party("edith"), "failed": False, "url": f"/live/turns/{TURN_ID}",
             "text": "Edith Lang had nothing to do: Kofi Mensah: commented on ENG-142"},
            {"id": "e9", "at": at, "type": "agent_turn_completed", "category": "turn",
             "who": party("iris"), "failed": False, "url": f"/live/turns/{TURN_ID}",
             "text": "Iris Chen had nothing to do: Kofi Mensah: commented on ENG-142"},
            {"id": "e1", "at": at, "type": "agent_turn_parked", "category": "turn",
             "who": party("kofi"), "failed": False,
             "text": "Kofi Mensah waits: a person decides", "url": f"/live/turns/{TURN_ID}"},
            {"id": "e2", "at": at, "type": "work_item_asked", "category": "decision",
             "who": party("kofi"), "failed": False,
             "text": "Kofi Mensah asked Ana Ruiz to decide", "url": "/work/ENG-142"},
            {"id": "e3", "at": at, "type": "agent_turn_completed", "category": "turn",
             "who": party("sol"), "failed": True, "url": "",
             "text": "Sol Park's turn failed: provider timeout"},
        ],
        "next": "",
    }  # fmt: skip


def turn_hours(actor: Any = None) -> list[dict[str, Any]]:
    """Returns a day of ended turns."""
    counts = [1, 0, 1, 0, 0, 2, 5, 9, 12, 14, 11, 10, 8, 11, 15, 14, 9, 8, 6, 4, 3, 3, 2, 4]
    return [
        {
            "at": clock.now(),
            "completed": count,
            "sent_back": count // 5,
            "failed": int(count == 14),
            "skipped": count // 3,
        }
        for count in counts
    ]


def used(days: int) -> dict[str, Any]:
    """Returns what a range used, by unit."""
    units = (("eng", "Engineering", 12_000_000, 0.75), ("gro", "Growth", 4_000_000, 0.25))
    return {
        "total": {"tokens": 16_000_000, "unknown_calls": 1},
        "by_unit": [
            {"key": key, "label": name, "tokens": tokens, "share": share}
            for key, name, tokens, share in units
        ],
    }


def week() -> dict[str, Any]:
    """Returns the company's week."""
    return {
        "used": 37_200_000, "limit": 40_000_000, "share": 0.93, "state": "near", "kind": "week",
    }  # fmt: skip
