"""Looking a colleague up, and asking one."""

from __future__ import annotations

from typing import Any

import pytest

from agents.models.colleagues import A2AChannel, A2AMessage
from agents.models.mail import Delivery
from crewlet.kernel.actions import Door, Outcome, perform
from crewlet.kernel.actors import Actor, ActorKind, TurnRef, engine_actor
from crewlet.kernel.ids import new_id
from orgs import epochs
from orgs.revisions import apply_document
from tests.orgs.companies import TWO_TEAMS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def baker() -> Actor:
    apply_document(engine_actor("test"), TWO_TEAMS, summary="test")
    return Actor(
        ActorKind.SEAT,
        "baker",
        "Baker",
        seat_id=epochs.active().seat_ids["baker"],
        handle="baker",
        turn=TurnRef(new_id(), "work-1"),
    )


def do(actor: Actor, name: str, **args: Any) -> Outcome:
    return perform(actor, name, args, op_id=None, door=Door.TOOL)


@pytest.mark.covers("TURN-74")
def test_one_match_is_a_card_that_says_how_to_reach_them(baker: Actor) -> None:
    agent = do(baker, "lookup_colleague", query="Seller").unwrap()
    person = do(baker, "lookup_colleague", query="rita@harbour.example").unwrap()

    assert (agent.data["handle"], agent.data["kind"]) == ("seller", "agent")
    assert "a2a_ask" in agent.data["reach"]
    assert (person.data["handle"], person.data["kind"]) == ("rita", "human")
    assert "cannot be asked with a2a_ask" in person.data["reach"]


@pytest.mark.covers("TURN-74")
def test_several_matches_are_a_list_and_nobody_is_guessed(baker: Actor) -> None:
    found = do(baker, "lookup_colleague", query="lead").unwrap()
    assert {card["handle"] for card in found.data["candidates"]} == {"baker-lead", "shop-lead"}


@pytest.mark.covers("TURN-74")
def test_no_match_names_everybody_who_is_there(baker: Actor) -> None:
    outcome = do(baker, "lookup_colleague", query="zzzqqq")
    assert outcome.error is not None
    assert "@night-baker" in outcome.error.message


@pytest.mark.covers("TURN-75")
def test_an_ask_wakes_the_colleague_one_step_deeper_and_owes_an_answer(baker: Actor) -> None:
    done = do(baker, "a2a_ask", target="seller", brief="How many loaves sold?").unwrap()

    channel = A2AChannel.objects.get()
    mail = Delivery.objects.get()
    assert done.refs == (f"a2a:{channel.id}",)
    assert (mail.seat.handle, mail.reply_kind, mail.depth) == ("seller", "engine", 1)
    assert "How many loaves sold?" in mail.payload["text"]
    assert A2AMessage.objects.get().body == "How many loaves sold?"


@pytest.mark.covers("TURN-75", "TURN-76")
@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("rita", "is a person"),
        ("baker", "cannot ask yourself"),
        ("selller", "Did you mean"),
        ("lead", "may be"),
    ],
)
def test_whoever_cannot_be_asked_is_refused_with_a_way_on(
    baker: Actor, target: str, words: str
) -> None:
    outcome = do(baker, "a2a_ask", target=target, brief="Well?")
    if target == "selller" and outcome.status == "applied":
        assert Delivery.objects.get().seat.handle == "seller"  # near enough to be the only one
        return
    assert outcome.error is not None and words in outcome.error.message
    assert not Delivery.objects.exists()
