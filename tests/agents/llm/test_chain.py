"""Which model a seat is thought with, and what is said where there is none."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from agents.llm import chain
from agents.llm.base import NoProvider, Request, UserMessage
from tests.support.model_server import ModelServer
from tests.support.script import Step

pytestmark = pytest.mark.django_db


@dataclass
class Entry:
    """An entry of `providers.llm`, read by attribute as the document's is."""

    type: str = "anthropic"
    model: str = "scripted-1"
    api_keys: tuple[str, ...] = ("literal-key",)
    base_url: str | None = None
    timeout_seconds: int = 10
    max_tokens: int | None = None


@dataclass
class Role:
    """A seat's own choice of models by phase."""

    chains: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def chain(self, phase: str = "default") -> tuple[str, ...]:
        """As the document's role: a phase falls back to default."""
        return self.chains.get(phase) or self.chains.get("default", ())


def company(providers: dict[str, Entry], **chains: tuple[str, ...]) -> Any:
    """A company with one seat, ada."""
    seats = {"ada": SimpleNamespace(role=Role(chains))}
    return SimpleNamespace(
        document=SimpleNamespace(providers=SimpleNamespace(llm=providers)),
        chart=SimpleNamespace(seats=seats),
    )


@pytest.mark.covers("TURN-50")
@pytest.mark.parametrize(
    ("phase", "keys"),
    [
        ("execute", ("big", "small")),
        ("onboarding", ("big", "small")),
        ("review", ("small",)),
        ("judge", ("big", "small")),
        ("worker", ("tiny",)),
    ],
)
def test_a_phase_has_its_chain(phase: str, keys: tuple[str, ...]) -> None:
    providers = {"tiny": Entry(), "small": Entry(), "big": Entry()}
    snapshot = company(providers, default=("big", "small"), review=("small",), subagent=("tiny",))

    assert chain.chain_of(snapshot, "ada", phase) == keys


def test_a_seat_without_a_choice_gets_default_then_the_first() -> None:
    first = company({"one": Entry(), "two": Entry()})
    named = company({"one": Entry(), "default": Entry()})

    assert chain.chain_of(first, "ada", "execute") == ("one",)
    assert chain.chain_of(named, "ada", "review") == ("default",)


@pytest.mark.parametrize(
    ("snapshot", "said"),
    [
        (company({}), "no model provider"),
        (company({"one": Entry()}, default=("two",)), 'asks for provider "two"'),
        (company({"one": Entry(type="telepathy")}), 'unknown type "telepathy"'),
        (company({"one": Entry(model="")}), "names no model"),
        (company({"one": Entry(api_keys=())}), "${ANTHROPIC_API_KEY}"),
        (company({"one": Entry(type="openai-compatible")}), "names no base_url"),
        (company({"one": Entry(api_keys=("${CREWLET_NO_SUCH_KEY}",))}), "CREWLET_NO_SUCH_KEY"),
    ],
)
def test_a_missing_model_is_said_with_its_remedy(snapshot: Any, said: str) -> None:
    with pytest.raises(NoProvider) as caught:
        chain.provider_for(snapshot, "ada", "execute")

    assert said in caught.value.message


def test_a_seat_that_is_gone_is_named() -> None:
    with pytest.raises(NoProvider, match='no seat "bob"'):
        chain.provider_for(company({"one": Entry()}), "bob", "execute")


def test_a_key_is_read_from_the_environment_and_sent(
    model_server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ADAS_KEY", "from-the-environment")
    entry = Entry(api_keys=("${ADAS_KEY}", "second"), base_url=model_server.url)
    model_server.says(Step(say="Hi."))

    provider = chain.provider_for(company({"one": entry}), "ada", "execute")
    answer = provider.complete(Request("", (UserMessage("Hi"),)))

    assert (answer.provider_key, provider.key, provider.model) == ("one", "one", "scripted-1")
    headers = model_server.seen[0].headers
    assert "from-the-environment" in f"{headers.get('x-api-key')} {headers.get('authorization')}"


def test_a_local_server_needs_no_key(model_server: ModelServer) -> None:
    entry = Entry(type="openai-compatible", api_keys=(), base_url=model_server.openai_url)
    model_server.says(Step(say="Hi."))

    provider = chain.provider_for(company({"one": entry}), "ada", "execute")

    assert provider.complete(Request("", (UserMessage("Hi"),))).text == "Hi."
    assert provider.vendor == "openai-compatible"


def test_seats_with_the_same_address_and_key_share_a_client(model_server: ModelServer) -> None:
    snapshot = company(
        {
            "one": Entry(base_url=model_server.url),
            "two": Entry(base_url=model_server.url, model="scripted-2"),
            "three": Entry(base_url=model_server.url, api_keys=("another",)),
        },
        default=("one",),
        review=("two",),
        judge=("three",),
    )

    wires = [
        chain.provider_for(snapshot, "ada", phase).members[0].provider._wire  # type: ignore[attr-defined]
        for phase in ("execute", "review", "judge")
    ]

    assert wires[0] is wires[1]
    assert wires[0] is not wires[2]


def test_a_company_that_rehearses_needs_no_key_and_no_model(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module = ModuleType("agents.llm.rehearsal")
    module.RehearsalProvider = SimpleNamespace  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "agents.llm.rehearsal", module)
    entry = Entry(type="rehearsal", model="", api_keys=())

    provider = chain.provider_for(company({"stage": entry}), "ada", "execute")

    assert (provider.key, provider.model) == ("stage", "rehearsal")
