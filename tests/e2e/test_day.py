"""A goal from a person to its end, through real processes and both wires of model vendors."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.e2e.company import (
    ANTHROPIC,
    OPENAI,
    SLOW,
    Heard,
    accepts,
    found,
    program,
    said,
    sent,
    until_rest,
)
from tests.support.model_server import ModelServer
from tests.support.processes import Process, Processes
from tests.support.script import SeenRequest, Step
from tests.support.until import until

DECISION = {
    "question": "Rye or wheat?",
    "role": "approver",
    "options": [{"id": "rye", "label": "Rye"}, {"id": "wheat", "label": "Wheat"}],
    "recommended": "rye",
}


def careful_baker(seen: SeenRequest) -> Step:
    """Asks the founder to decide; once she has, does the work and reports."""
    answer = accepts(seen)
    if answer:
        return answer
    key = re.findall(r"Item: (BAKE-\d+)", seen.text)[-1]
    made = [call.name for call in seen.calls()]
    if "Reason: your ask was answered" not in seen.text:
        if "comment_on_work_item" not in made:
            return said(
                "comment_on_work_item", item=key, body="Which flour?", ask="rita", decision=DECISION
            )
        return said("submit_work", summary="Asked Rita.", deliveries=["comment_on_work_item"])
    if "update_work_item" not in made:
        return said("update_work_item", item=key, status="done")
    if "comment_on_work_item" not in made:
        return said("comment_on_work_item", item=key, body="Twelve rye loaves are baked.")
    return said("submit_work", summary="Baked.", deliveries=["comment_on_work_item"])


def worked_through(turn: dict[str, Any], key: str) -> None:
    """Asserts that a turn of the baker's is ended, reviewed and charged to the item."""
    assert (turn["outcome"], turn["stage"], turn["seat"]) == ("completed", "done", "baker")
    assert turn["work_item"] == key
    assert turn["ended_at"] > turn["started_at"]
    assert turn["decision"] == "done", "a reviewer ended it"
    assert turn["tokens_in"] > 0


def without_a_stream(seen: SeenRequest) -> Step:
    """Plays the same on a server that answers in one piece, whatever was asked for."""
    return replace(careful_baker(seen), ignore_stream=True)


@pytest.mark.covers("TRK-35", "TURN-55")
@pytest.mark.parametrize(
    "play", [careful_baker, without_a_stream], ids=["streamed", "in one piece"]
)
@pytest.mark.parametrize(
    ("provider", "wire"), [(OPENAI, "openai"), (ANTHROPIC, "anthropic")], ids=["openai", "claude"]
)
def test_a_goal_is_asked_about_answered_done_and_seen_by_rest(
    web: Process,
    processes: Processes,
    provider: str,
    wire: str,
    play: Callable[[SeenRequest], Step],
) -> None:
    """An answered ask wakes its asker; streamed or not, the work is the same."""
    heard = Heard()
    with ModelServer(play=heard.listen(play)) as server:
        rita = found(server, provider)
        worker = processes.start_worker("one")
        with program(web.url, rita) as rest:
            filed = sent(
                rest, "/work",
                {"title": "Twelve loaves", "project": "BAKE", "assignee": "baker", "body": "By 5."},
            )  # fmt: skip
            key = filed["result"]["key"]

            def waiting() -> list[dict[str, object]]:
                assert not worker.ended, worker.output
                asks: list[dict[str, object]] = rest.get("/work/my-work").json()["asked_of_me"][
                    "asks"
                ]
                return asks

            (ask,) = until(waiting, SLOW, what="the baker asks Rita")
            assert ask["question"] == "Rye or wheat?"
            until_rest()
            sent(
                rest, f"/work/{key}/comments",
                {"body": "Rye, please.", "answers": ask["id"], "choice": "rye"},
            )  # fmt: skip
            until(
                lambda: rest.get(f"/work/{key}").json()["item"]["status"] == "done",
                SLOW, what="the answered item is done",
            )  # fmt: skip
            until_rest()
            detail = rest.get(f"/work/{key}").json()
            turns = rest.get("/turns", params={"seat": "baker"}).json()["turns"]
            one = rest.get(f"/turns/{turns[0]['id']}").json()
            listed = rest.get("/work", params={"project": "BAKE"}).json()["items"]
    assert detail["comments"][-1]["body"] == "Twelve rye loaves are baked."
    assert [comment["author"] for comment in detail["comments"]] == ["baker", "rita", "baker"]
    assert len(turns) == 2
    for turn in turns:
        worked_through(turn, key)
    assert [phase["phase"] for phase in one["phases"]] == ["execute", "review"]
    (row,) = listed
    assert (row["key"], row["title"], row["status"]) == (key, "Twelve loaves", "done")
    assert (row["assignee"], row["reporter"]) == ("baker", "rita")
    assert detail["spend"]["turns"] == 2
    assert heard.wires == {wire}
    if play is careful_baker:
        assert heard.streamed == len(heard.prompts), "every answer is streamed"
    else:
        assert heard.streamed == 1, "after the first try nothing more is streamed"
