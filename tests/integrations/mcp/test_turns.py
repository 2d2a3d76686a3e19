"""A seat finds and uses tools of a server: whole turns against a real server and a real model."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agents.models.turns import Phase, ToolCall, Turn
from agents.seats.lease import Lease
from agents.tools.registry import surface
from crewlet.kernel import failpoints
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.models import EngineEvent
from integrations.mcp.pool import POOL
from integrations.mcp.source import Children
from orgs import epochs
from orgs.revisions import apply_document
from tests.agents.turn.conftest import bare_stage, model_server, stage
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage
from tests.integrations.mcp.conftest import SERVER
from tests.support.script import ScriptedCall, Step, call

__all__ = ["bare_stage", "model_server", "stage"]

pytestmark = pytest.mark.django_db

LIST = Step(calls=[call("list_mcp_server_tools", server="box")])
ECHO = Step(calls=[call("echo", text="warm")])


@pytest.fixture(autouse=True)
def no_server_stays() -> Iterator[None]:
    yield
    POOL.stop()


def with_servers(*servers: dict[str, Any], **env: dict[str, Any]) -> None:
    """Gives the stage's company servers of tools, and the baker variables for them."""
    document = epochs.active().document.model_dump(mode="json", exclude_unset=True)
    document["mcp_servers"] = list(servers)
    if env:
        baker = next(role for role in document["roles"] if role.get("handle") == "baker")
        baker["mcp_env"] = env
    apply_document(engine_actor("tests"), document, summary="Servers of tools")


def a_server(name: str = "box", mode: str = "", **more: Any) -> dict[str, Any]:
    args = ["-I", "-S", str(SERVER), mode]
    return {"name": name, "command": sys.executable, "args": args, **more}


def activate(*names: str) -> Step:
    return Step(calls=[ScriptedCall("activate_tool", {"name": name}) for name in names])


def results() -> list[tuple[str, bool | None, str]]:
    rows = ToolCall.objects.filter(round__phase__phase="execute")
    return list(rows.order_by("round__n", "ord").values_list("name", "ok", "result"))


@pytest.mark.covers("TURN-29", "TURN-30", "INT-83", "PEER-55")
def test_a_tool_is_found_taken_up_and_called(stage: Stage) -> None:
    with_servers(a_server(), a_server("ghost", "refuses"))
    stage.executes(
        ECHO,
        LIST,
        Step(calls=[call("list_mcp_server_tools", server="ghost")]),
        Step(calls=[call("list_mcp_server_tools", server="nowhere")]),
        ECHO,
        activate("echo", "ecco"),
        ECHO,
        NOTE,
        SUBMIT,
    )
    stage.reviews(DONE)
    end, _ = stage.work()
    assert end.kind == "completed"
    said = results()
    assert "There is no tool `echo`" in said[0][2] and "list_mcp_server_tools" in said[0][2]
    assert said[1][1] and "- echo: Says a text again.\n" in said[1][2]
    assert not said[2][1] and "no licence" in said[2][2] and "every other tool works" in said[2][2]
    assert said[3][2] == "You have no server `nowhere`. Servers that you have: box, ghost."
    assert said[4][2].startswith("`echo` was not run: it is not shown to you yet. Call activate_")
    assert said[5][1] and "Did you mean echo" in said[6][2]
    assert said[7] == ("echo", True, "echo: warm")
    shown = [tool["name"] for tool in Phase.objects.get(phase="execute").tools]
    assert shown.count("echo") == 1, "kept with the phase, so that a resume shows it too"
    event = EngineEvent.objects.get(type="phase_tool_activated")
    assert event.payload["tool"] == "echo" and event.payload["server"] == "box"


@pytest.mark.covers("PEER-55")
def test_150_tools_cost_next_to_nothing_until_one_is_taken_up(stage: Stage) -> None:
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    bare = _size_of_tools()
    with_servers(a_server(mode="many"))
    stage.executes(LIST, NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    stage.executes(NOTE, SUBMIT)
    stage.reviews(DONE)
    stage.work()
    assert _size_of_tools() - bare < 2000


def _size_of_tools() -> int:
    """Characters; a token has about four of them."""
    return len(json.dumps(Phase.objects.filter(phase="execute").latest("started_at").tools))


@pytest.fixture
def killed_at(monkeypatch: pytest.MonkeyPatch) -> Callable[[Stage, str, int], Any]:
    """Runs a turn whose worker dies at the n-th pass of a failpoint, and takes it over."""

    class Killed(BaseException):
        """The process is gone: nothing catches this."""

    def gone(*_: object) -> None:
        monkeypatch.delenv("CREWLET_FAILPOINT")
        raise Killed

    def run(stage: Stage, name: str, n: int) -> Any:
        failpoints._hits.clear()
        monkeypatch.setenv("CREWLET_FAILPOINT", f"{name}:{n}")
        monkeypatch.setattr("crewlet.kernel.failpoints.os.kill", gone)
        stage.mail()
        turn_id = stage.claim()
        with pytest.raises(Killed):
            stage.run(turn_id)
        POOL.stop()
        stage.adopt(turn_id, lost=True)
        return stage.run(turn_id, resumed=True)

    return run


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-30")
def test_a_write_to_somebody_elses_system_is_never_repeated_and_the_tools_stay(
    stage: Stage, killed_at: Callable[[Stage, str, int], Any], tmp_path: Path
) -> None:
    seen = tmp_path / "seen.txt"
    with_servers(a_server(env={"SEEN": str(seen)}))
    stage.executes(
        LIST,
        activate("write", "echo"),
        Step(calls=[call("write", text="one loaf")]),
        Step(expect="outcome not observed", calls=ECHO.calls),
        NOTE,
        SUBMIT,
    )
    stage.reviews(DONE)
    # call.effect is passed by a call into another system once it has happened.
    end = killed_at(stage, "call.effect", 1)
    assert end.kind == "completed"
    assert seen.read_text() == "one loaf\n"
    assert results()[3][1] is False, "what was not observed is no delivery"
    assert results()[4] == ("echo", True, "echo: warm"), "still shown after the take-over"


@pytest.mark.covers("TURN-31", "INT-80", "INT-83")
def test_a_seat_has_its_own_server_by_its_own_variables_and_no_other_seat(stage: Stage) -> None:
    with_servers(a_server(shared=False), a_server("plain"), box={"MINE": "of the baker"})
    stage.executes(
        LIST,
        Step(calls=[call("list_mcp_server_tools", server="plain")]),
        activate("environment"),
        Step(calls=[call("environment")]),
        NOTE,
        SUBMIT,
    )
    stage.reviews(DONE)
    stage.work()
    assert '"MINE": "[redacted]"' in results()[3][2], "its own variable, and never its value"
    assert "environment_" in results()[1][2], "the shared one of the same name is another tool"
    assert POOL.running() == sorted([(stage.seat(), "box"), (None, "plain")], key=str)
    Children().close(Lease(stage.seat(), 1, stage.node))
    assert POOL.running() == [(None, "plain")]
    names = {tool.name for tool in surface(stage.snapshot, "chief", "execute") if tool.own}
    assert not names, "no variables, none of its tools"


@pytest.mark.covers("TURN-36", "TURN-34")
def test_an_error_of_a_server_is_no_delivery(stage: Stage) -> None:
    with_servers(a_server())
    stage.executes(
        LIST,
        activate("fail"),
        Step(calls=[call("fail")]),
        Step(calls=[call("submit_work", summary="Told.", deliveries=["fail"])]),
        NOTE,
        SUBMIT,
    )
    stage.reviews(DONE)
    stage.work(reply_surface="")
    said = results()
    assert said[2] == ("fail", False, "channel_not_found")
    assert said[3][1] is False and "submit_work was not accepted" in said[3][2]
    assert Turn.objects.get().outcome == "completed"
