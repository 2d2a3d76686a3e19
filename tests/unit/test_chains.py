"""Which models a phase of a seat is thought with, from the seat as people write it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from agents.llm import chain
from orgs.document.company import Role

PROVIDERS = ("first", "second", "third", "default")
WORDS = {
    "review": "review", "judge": "judge", "worker": "subagent", "delegate": "subagent",
    "reflect": "auxiliary", "auxiliary": "auxiliary", "sandbox": "sandbox",
}  # fmt: skip
"""A phase beside the work itself, and the word that the document has for its models."""


def asked(phase: str, providers: tuple[str, ...] = PROVIDERS, **seat: Any) -> tuple[str, ...]:
    """The chain of a phase in a company with these providers, in this order."""
    role = Role.model_validate({"name": "Ada", **seat}, strict=False)
    snapshot: Any = SimpleNamespace(
        document=SimpleNamespace(providers=SimpleNamespace(llm=dict.fromkeys(providers))),
        chart=SimpleNamespace(seats={"ada": SimpleNamespace(role=role)}),
    )
    return chain.chain_of(snapshot, "ada", phase)


@pytest.mark.covers("TURN-50")
@pytest.mark.parametrize("phase", WORDS)
def test_the_more_specific_word_chooses_the_models_of_a_phase(phase: str) -> None:
    """Its own field, the same key of the map, the seat's default, `default`, the first."""
    word, llm = WORDS[phase], {"default": "first"}
    own: dict[str, Any] = {f"llm_{word}": ["third", "first"]}
    assert asked(phase, llm={word: "second", **llm}, **own) == ("third", "first")
    assert asked(phase, llm={word: ["second", "third"], **llm}) == ("second", "third")
    assert asked(phase, llm=llm) == ("first",)
    assert asked(phase, llm="second") == ("second",)
    assert asked(phase, llm=["second", "first"]) == ("second", "first")
    assert asked(phase) == ("default",)
    assert asked(phase, providers=("second", "third")) == ("second",)


@pytest.mark.covers("TURN-50")
@pytest.mark.parametrize("phase", ["execute", "onboarding"])
def test_the_work_itself_is_thought_with_the_plain_word(phase: str) -> None:
    others: dict[str, Any] = {f"llm_{word}": "third" for word in set(WORDS.values())}
    assert asked(phase, llm=["second", "first"], **others) == ("second", "first")
    assert asked(phase, llm={"default": "second", "review": "third"}, **others) == ("second",)
    assert asked(phase, **others) == ("default",)


@pytest.mark.covers("TURN-50")
@pytest.mark.parametrize("phase", ["execute", *WORDS])
def test_an_empty_list_chooses_nothing(phase: str) -> None:
    assert asked(phase, llm=[]) == ("default",)
    assert asked(phase, llm={"default": []}) == ("default",)
    if phase in WORDS:
        assert asked(phase, llm={WORDS[phase]: [], "default": "second"}) == ("second",)
        own: dict[str, Any] = {f"llm_{WORDS[phase]}": []}
        assert asked(phase, llm="second", **own) == ("second",)
