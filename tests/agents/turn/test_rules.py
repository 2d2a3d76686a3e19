"""The pure rules: what may be claimed, what a second pass reads, which writes are the same."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.llm.base import Answer, StopReason, Usage
from agents.turn import delivery, guards, ledger
from agents.turn.delivery import Held
from agents.turn.machine import PhaseName
from agents.turn.opids import operation_id
from agents.turn.record import (
    CallRecord,
    IterationRow,
    PhaseRecord,
    RoundRecord,
    TurnHead,
    TurnRecord,
)
from agents.turn.submissions import SubmitWork, read_review, read_work

NOW = datetime(2026, 3, 1, tzinfo=UTC)
HELD = Held((("comment", "work"), ("write_page", "page"), ("look", "")))
ANSWER = Answer(StopReason.TOOL_USE, "", "", (), Usage(1, 1), "m", "k", "openai", "{}")


def made(name: str, *, ok: bool | None = True, **values: Any) -> CallRecord:
    known: dict[str, Any] = {
        "args": {}, "args_text": "{}", "read_only": "no", "status": "done", "result": "ok",
    }  # fmt: skip
    return CallRecord(uuid4(), 0, f"id-{name}", name, ok=ok, **{**known, **values})


def head(reply: str = "tool", surface: str = "work") -> TurnHead:
    return TurnHead(
        uuid4(), uuid4(), "work", reply, surface, {}, [], "b", "c", None, 1, 0, (), None,
        agent_caused=False, started_at=NOW,
    )  # fmt: skip


def phase_of(*calls: CallRecord, n: int = 1, text: str = "") -> PhaseRecord:
    answer = Answer(StopReason.TOOL_USE, text, "", (), Usage(1, 1), "m", "k", "openai", "{}")
    rounds = [RoundRecord(uuid4(), 0, answer, NOW, 1, calls=list(calls))]
    return PhaseRecord(uuid4(), PhaseName.EXECUTE, n, "", "", [], [], [], 24, NOW, rounds=rounds)


def record(*calls: CallRecord, reply: str = "tool", surface: str = "work") -> TurnRecord:
    return TurnRecord(head(reply, surface), [phase_of(*calls)])


COMMENT = made("comment", surface="work", refs=("item:ENG-4",))
PAGE = made("write_page", surface="page", refs=("page:7",))
READ = made("look", read_only="yes", refs=("item:ENG-9",))
FAILED = made("comment", ok=False, surface="work", refs=("item:ENG-4",))
MCP = made("post", origin="mcp", read_only="unknown", server="slack", refs=())
MCP_READ = made("history", origin="mcp", read_only="yes", server="slack")


@pytest.mark.covers("TURN-40")
@pytest.mark.parametrize(
    ("call", "lands"),
    [
        (COMMENT, True),
        (PAGE, True),
        (made("log"), False),  # ours, and it names no surface
        (READ, False),
        (FAILED, False),
        (MCP, True),  # somebody else's, not proved to read
        (MCP_READ, False),
        (made("post", origin="mcp", ok=False), False),
    ],
)
def test_what_counts_as_a_delivery(call: CallRecord, lands: bool) -> None:
    assert delivery.delivers(call) is lands


@pytest.mark.covers("TURN-40")
@pytest.mark.parametrize(
    ("cited", "calls", "accepted"),
    [
        (["item:ENG-4"], [COMMENT], True),
        (["ENG-4"], [COMMENT], True),
        (["I commented on ENG-4 with the plan"], [COMMENT], True),
        (["comment"], [COMMENT], True),
        (["id-comment"], [COMMENT], True),
        (["item:ENG-44"], [COMMENT], False),
        ([], [COMMENT], False),
        (["item:ENG-4"], [FAILED], False),
        (["page:7"], [PAGE], False),  # it landed, but not where they asked
        (["item:ENG-4", "page:7"], [COMMENT, PAGE], True),
    ],
)
def test_a_delivery_must_be_cited_on_the_surface_of_the_ask(
    cited: list[str], calls: list[CallRecord], accepted: bool
) -> None:
    work = SubmitWork(summary="Done.", deliveries=cited)
    assert (delivery.refusal(work, record(*calls), HELD) == "") is accepted


@pytest.mark.covers("TURN-40", "TURN-62")
def test_a_citation_may_name_a_call_of_an_earlier_pass() -> None:
    turn = TurnRecord(head(), [phase_of(COMMENT), phase_of(n=2)])
    work = SubmitWork(summary="Done.", deliveries=["ENG-4"])
    assert delivery.refusal(work, turn, HELD) == ""


@pytest.mark.covers("TURN-41")
def test_narrowing_stops_where_the_seat_holds_no_tool_there() -> None:
    turn = record(PAGE, surface="slack")
    work = SubmitWork(summary="Done.", deliveries=["page:7"])
    assert delivery.refusal(work, turn, HELD) == ""
    assert delivery.reached(turn, HELD)
    unnamed = record(PAGE, surface="")
    assert delivery.refusal(work, unnamed, HELD) == ""


@pytest.mark.covers("TURN-42")
def test_the_refusal_says_what_can_be_cited_and_what_would_land() -> None:
    wrong = SubmitWork(summary="Done.", deliveries=["nothing"])
    assert "You can cite: item:ENG-4" in delivery.refusal(wrong, record(COMMENT), HELD)
    nothing = delivery.refusal(wrong, record(PAGE), HELD)
    assert "wrote elsewhere (page:7)" in nothing
    assert "`comment`" in nothing
    silent = delivery.refusal(wrong, record(READ), HELD)
    assert "wrote elsewhere" not in silent


@pytest.mark.covers("TURN-40")
@pytest.mark.parametrize("reply", ["tool", "engine"])
def test_no_action_is_refused_while_somebody_waits(reply: str) -> None:
    work = SubmitWork(outcome="no_action", summary="Nothing.")
    assert delivery.refusal(work, record(reply=reply), HELD)
    assert not delivery.refusal(work, record(reply="none"), HELD)


@pytest.mark.covers("TURN-57", "ADD-2")
def test_the_check_skips_only_what_nobody_asked_for_and_nothing_acted_on() -> None:
    idle = SubmitWork(outcome="no_action", summary="Nothing new.")
    failed_read = made("look", read_only="yes", ok=False)
    quiet = record(failed_read, READ, reply="none", surface="")
    assert guards.check(idle, quiet, HELD).result == "skip", "a recovered error fails nothing"
    acted = record(COMMENT, reply="none", surface="")
    assert guards.check(idle, acted, HELD).result == "review"


@pytest.mark.covers("TURN-57")
@pytest.mark.parametrize(
    ("cited", "calls", "said"),
    [
        (["item:ENG-4"], [COMMENT], ""),
        (["item:ENG-9"], [COMMENT], "cites item:ENG-9"),
        (["item:ENG-9"], [COMMENT, READ], "cites item:ENG-9"),  # reading is no delivery
        (["a new homepage"], [COMMENT], ""),  # prose cannot be checked: the reviewer reads it
        (["a new homepage"], [READ], "changed anything"),
        ([], [READ], ""),
    ],
)
def test_only_what_can_be_checked_is_held_against_a_claim(
    cited: list[str], calls: list[CallRecord], said: str
) -> None:
    work = SubmitWork(summary="Done.", deliveries=cited)
    checked = guards.check(work, record(*calls, reply="none", surface=""), HELD)
    assert checked.result == ("correct" if said else "review")
    assert said in checked.correction


@pytest.mark.covers("TURN-40", "TURN-58")
def test_submissions_say_what_is_wrong_with_them() -> None:
    assert "summary" in str(read_work({}))
    assert "needs evidence" in str(read_work({"outcome": "blocked", "summary": "x"}))
    assert "outcome" in str(read_work({"outcome": "perfect", "summary": "x"}))
    assert "needs notes" in str(read_review({"decision": "self_iterate", "notes": "  "}))
    fine = read_work({"summary": "x"})
    assert isinstance(fine, SubmitWork)
    assert fine.outcome == "delivered", "a missing outcome means delivered"
    verdict = read_review({})
    assert not isinstance(verdict, str)
    assert verdict.decision == "done", "a missing decision means done"


# --- operation ids -------------------------------------------------------------------------------


def ids(*args: dict[str, Any] | tuple[dict[str, Any], bool], work: str = "w") -> list[str]:
    """The ids of a sequence of calls of one tool; a tuple's second says whether it was applied."""
    earlier: list[CallRecord] = []
    found = []
    for entry in args:
        values, ok = entry if isinstance(entry, tuple) else (entry, True)
        found.append(operation_id(work, "move", values, earlier))
        earlier.append(made("move", ok=ok, args=values))
    return found


A, B = {"to": "doing"}, {"to": "done"}


@pytest.mark.covers("TURN-11")
def test_there_and_back_is_three_writes_and_an_immediate_repeat_is_one() -> None:
    assert len(set(ids(A, B, A))) == 3
    assert len(set(ids(A, A))) == 1
    assert len(set(ids(A, B, A, B))) == 4
    assert len(set(ids(A, A, B, B))) == 2


@pytest.mark.covers("TURN-7", "TURN-11")
def test_a_re_run_derives_the_same_ids_and_other_work_others() -> None:
    assert ids(A, B, A) == ids(A, B, A)
    assert ids(A, work="one") != ids(A, work="two")
    assert operation_id("w", "move", {"a": 1, "b": 2}, []) == operation_id(
        "w", "move", {"b": 2, "a": 1}, []
    )


def test_calls_of_other_tools_and_reads_between_do_not_move_an_id() -> None:
    between = [made("look", read_only="yes", args={"q": 1})]
    assert operation_id("w", "move", A, between) == operation_id("w", "move", A, [])


def test_a_call_that_was_refused_is_another_write_when_it_is_tried_again() -> None:
    first, second = ids((A, False), A)
    assert first != second


@pytest.mark.covers("TURN-11")
@given(st.lists(st.sampled_from([A, B, {"to": "to do"}]), max_size=12))
def test_two_calls_in_a_row_share_an_id_exactly_when_they_are_equal(
    calls: list[dict[str, Any]],
) -> None:
    found = ids(*calls)
    runs = [c for n, c in enumerate(calls) if n == 0 or c != calls[n - 1]]
    assert len(set(found)) == len(runs)
    assert all(len(one) < 180 for one in found)


# --- the ledger ----------------------------------------------------------------------------------


@pytest.mark.covers("TURN-62")
def test_a_write_is_not_to_be_repeated_a_read_may_a_failure_can_be_tried_again() -> None:
    lines = ledger.tool_log(phase_of(COMMENT, READ, FAILED)).splitlines()
    assert lines[0].endswith("→ item:ENG-4: done, do not repeat it")
    assert lines[1].endswith("(read)")
    assert lines[2].endswith("failed: ok (may be tried again)")


def test_a_call_without_a_result_is_not_told_as_done() -> None:
    cut = made("post", origin="mcp", ok=None, status="running")
    assert "outcome not observed" in ledger.call_line(cut)


@pytest.mark.covers("TURN-63")
def test_a_long_argument_cannot_push_out_a_short_one() -> None:
    shown = ledger.arguments({"body": "x" * 10_000, "channel": "C9"})
    assert "channel=C9" in shown
    assert "(+9800 more characters)" in shown
    assert len(shown) < 400


@pytest.mark.covers("TURN-63")
def test_a_call_with_many_long_arguments_drops_whole_keys_and_counts_them() -> None:
    shown = ledger.arguments({f"key{n}": "v" * 190 for n in range(10)} | {"short": "1"})
    assert "short=1" in shown
    assert shown.endswith("more")
    assert len(shown) <= 900


@pytest.mark.covers("TURN-63")
@given(st.dictionaries(st.text(min_size=1, max_size=20), st.text(max_size=400), max_size=30))
def test_a_rendered_call_stays_within_its_bound(args: dict[str, str]) -> None:
    assert len(ledger.arguments(args)) <= ledger.CALL_CHARS + 300


@pytest.mark.covers("TURN-63")
def test_reads_beyond_a_dozen_in_a_round_are_counted_and_writes_never_dropped() -> None:
    log = ledger.tool_log(phase_of(*[READ] * 20, *[COMMENT] * 20))
    assert log.count("(read)") == 12
    assert log.count("do not repeat") == 20
    assert "and 8 more reads" in log


@pytest.mark.covers("TURN-62", "TURN-63")
def test_earlier_passes_are_told_with_what_came_of_them() -> None:
    row = IterationRow(
        1, "delivered", "x" * 9000 + "the end", "h", notes="Bake more.", completed_work="One loaf."
    )
    turn = TurnRecord(head(), [phase_of(COMMENT)], [row])
    told = ledger.prior_work(turn, before=2)
    assert "### Pass 1: delivered" in told
    assert "Finished: One loaf." in told
    assert "The reviewer said: Bake more." in told
    assert told.count("x") < 4100, "only the tail of a long text is shown"
    assert "the end" in told
    assert ledger.prior_work(turn, before=1) == ""


@pytest.mark.covers("TURN-63")
def test_the_numbers_of_elision_are_those_that_are_promised() -> None:
    """200 a value, 800 a call, 12 reads a round, 200 of a failure, 4,000 of a text."""
    assert ledger.arguments({"a": "x" * 200}) == f"a={'x' * 200}"
    assert "(+1 more characters)" in ledger.arguments({"a": "x" * 201})
    fits = dict.fromkeys("abcd", "v" * 195)
    assert "more" not in ledger.arguments(fits), "four times 1 + 195 + 4 are 800"
    over = ledger.arguments(fits | {"e": ""})
    assert over.endswith(", +1 more")
    assert "e=" in over, "the shortest is kept"
    failed = ledger.call_line(made("comment", ok=False, result="r" * 201))
    assert f"failed: {'r' * 200}… (+1 more characters)" in failed
    assert ledger.tail("p" * 4000) == "p" * 4000
    assert ledger.tail("q" + "p" * 4000).endswith("p" * 4000)
    assert "q" not in ledger.tail("q" + "p" * 4000)
    produced = "p" * 9000
    row = IterationRow(1, "delivered", produced, "h")
    assert row.artifact == produced, "stored whole"
