"""A person tells a running turn something: read at the next round, repeated later, never lost."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.actions.turns import SteerTurn, _steered_turn, steer_turn
from agents.llm.base import UserMessage
from agents.models.turns import Phase, SteerNote, Turn
from agents.turn import reading, resume
from crewlet.kernel.actions import ACTIONS, Door, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.errors import Conflict, ErrorCode, Gone
from crewlet.kernel.models import EngineEvent
from crewlet.kernel.registry import thawed
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.turn.stage import DONE, NOTE, SUBMIT, Stage, again
from tests.support.script import Said, SeenRequest, Step, call

pytestmark = pytest.mark.django_db
REGISTERED = ACTIONS["steer_turn"]  # the stage replaces the registry by its own three tools


def rita() -> Actor:
    seat = Seat.objects.get(handle="rita")
    return Actor(ActorKind.PERSON, "rita", "Rita", seat_id=seat.id, handle="rita")


def steer(note: str, turn: Turn | None = None, **more: Any) -> str:
    args = SteerTurn(turn=(turn or Turn.objects.get()).id, note=note, **more)
    return str(steer_turn(rita(), args, _steered_turn(rita(), args)).data["state"])


def steering(note: str, then: Step) -> Step:
    """A model call during which a person leaves a note: the next answer is the first to know."""

    def during(_seen: object) -> None:
        steer(note)

    return Step(expect=during, calls=then.calls)


def hears(note: str, *, ends: str = "user") -> Callable[[SeenRequest], None]:
    def check(seen: SeenRequest) -> None:
        assert note in seen.text
        assert seen.messages[-1].role == ends

    return check


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-78", "PEER-38", "ADD-5")
def test_a_note_is_read_at_the_next_round_and_by_every_phase_that_opens_later(
    stage: Stage,
) -> None:
    stage.company()
    said: list[tuple[Said, ...]] = []

    def keep(seen: SeenRequest) -> None:
        said.append(seen.messages)

    stage.executes(
        steering("Rye, not wheat.", NOTE),
        Step(expect=keep, calls=SUBMIT.calls),
        Step(expect=keep, calls=SUBMIT.calls),
    )
    stage.reviews(Step(expect=keep, calls=again().calls), DONE)
    end, turn = stage.work()
    assert end.kind == "completed"
    *before, note = said[0]
    assert before[-1].role == "tool"
    assert note.role == "user"
    assert "Rita Founder (@rita)" in note.text
    assert "Rye, not wheat." in note.text
    assert "company policy" in note.text
    reviewed, second = said[1], said[2]
    assert "Rye, not wheat." in reviewed[-1].text
    assert "Rye, not wheat." in second[-1].text
    fate = SteerNote.objects.get()
    assert (fate.state, fate.phase, fate.iteration, fate.round) == ("delivered", "execute", 1, 1)
    told = EngineEvent.objects.get(type="agent_turn_steered")
    assert (told.payload["fate"], told.payload["round"]) == ("delivered", 1)
    record, _ = reading.read(turn.id)
    rebuilt = resume.conversation(record.phases[0])
    assert [m.text for m in rebuilt if isinstance(m, UserMessage)][1] == note.text
    assert Phase.objects.filter(user__contains="Rye, not wheat.").count() == 3


@pytest.mark.covers("TURN-78", "TURN-12")
def test_a_parked_turn_reads_its_note_when_it_goes_on(stage: Stage) -> None:
    stage.executes(
        Step(status=529, error=("overloaded_error", "busy")),
        Step(expect=hears("Use the old oven."), calls=NOTE.calls),
        Step(expect=hears("Use the old oven.", ends="tool"), calls=SUBMIT.calls),
    )
    stage.reviews(DONE)
    _, turn = stage.work()
    assert steer("Use the old oven.") == "pending"
    stage.adopt(turn.id, lost=False)
    assert stage.run(turn.id, resumed=True).kind == "completed"


@pytest.mark.django_db(transaction=True)
@pytest.mark.covers("TURN-78", "PEER-38")
def test_a_note_that_comes_too_late_expires_before_the_turn_is_told_complete(
    stage: Stage,
) -> None:
    stage.company()
    stage.executes(NOTE, SUBMIT)
    stage.reviews(steering("Too late.", DONE))
    _, turn = stage.work()
    assert SteerNote.objects.get().state == "expired"
    kinds = list(
        EngineEvent.objects.filter(turn_id=turn.id, type__in=["agent_turn_steered",
                                                              "agent_turn_completed"])
        .order_by("id").values_list("type", flat=True)
    )  # fmt: skip
    assert kinds == ["agent_turn_steered", "agent_turn_completed"]
    with pytest.raises(Gone, match="ended"):
        steer("Later still.", turn)


@pytest.mark.covers("TURN-78")
def test_five_notes_wait_at_most_and_one_request_leaves_one(stage: Stage) -> None:
    stage.mail()
    stage.claim()
    for number in range(5):
        steer(f"Note {number}", request_id=f"r{number}")
    steer("Note 4", request_id="r4")
    assert SteerNote.objects.count() == 5
    with pytest.raises(Conflict, match="another note"):
        steer("Something else", request_id="r4")
    with pytest.raises(Conflict, match="5 notes wait"):
        steer("The sixth")


@pytest.mark.covers("TURN-78")
def test_only_who_leads_the_seat_steers_it_by_turn_or_by_handle(stage: Stage) -> None:
    stage.mail()
    stage.claim()
    baker = seat_actor(Seat.objects.get(handle="baker"))
    chief = seat_actor(Seat.objects.get(handle="chief"))
    with thawed(ACTIONS):
        ACTIONS._entries["steer_turn"] = REGISTERED
        args = {"seat": "baker", "note": "Mind the oven."}
        refused = perform(baker, "steer_turn", args, op_id="a", door=Door.TOOL)
        assert refused.error is not None
        assert refused.error.code is ErrorCode.FORBIDDEN
        done = perform(chief, "steer_turn", args, op_id="b", door=Door.TOOL).unwrap()
        assert done.data["state"] == "pending"
        idle = perform(rita(), "steer_turn", {"seat": "chief", "note": "Hello"}, op_id="c",
                       door=Door.REST)  # fmt: skip
        assert idle.error is not None
        assert idle.error.code is ErrorCode.GONE
    assert SteerNote.objects.get().by == "chief"


@pytest.mark.covers("TURN-78", "UI-53")
def test_a_turn_inside_a_coding_program_reads_no_notes(stage: Stage) -> None:
    coder = "    coder: {{type: cli-agent, model: x, cli: {{agent: claude-code}}}}"
    stage.company(providers=coder, seat_budget="    llm: coder")
    stage.mail()
    stage.claim()
    with pytest.raises(Conflict) as refused:
        steer("Hello")
    assert refused.value.code is ErrorCode.STEER_UNSUPPORTED


def test_calls_stay_answered_around_a_note(stage: Stage) -> None:
    """A note never stands between a call and its result."""
    stage.executes(Step(calls=[*NOTE.calls, call("look_at", item="ENG-1")]), SUBMIT)
    stage.reviews(DONE)
    stage.mail()
    turn_id = stage.claim()
    steer("Before the first round.")
    assert stage.run(turn_id).kind == "completed"
    record, _ = reading.read(turn_id)
    kinds = [type(m).__name__ for m in resume.conversation(record.phases[0])]
    assert kinds[:5] == [
        "UserMessage", "UserMessage", "AssistantMessage", "ToolMessage", "ToolMessage",
    ]  # fmt: skip
