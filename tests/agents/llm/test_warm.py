"""A worker imports its models' SDKs before it holds a seat, so that the first wake need not."""

from __future__ import annotations

from typing import Any

import pytest

from agents.dispatch import worker
from agents.llm import chain, openai
from crewlet.kernel import db
from crewlet.kernel.errors import Unavailable
from orgs import epochs
from tests.agents.llm.test_chain import Entry, company

LOCAL = Entry(type="openai-compatible", base_url="http://127.0.0.1:9/v1")


@pytest.mark.django_db
def test_a_warm_process_opens_no_client_at_its_first_call(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = openai.connect

    def connect(base_url: str, api_key: str) -> openai.OpenAIWire:
        opened.append(base_url)
        return real(base_url, api_key)

    monkeypatch.setattr(openai, "connect", connect)
    snapshot = company({"local": LOCAL})
    chain.warm(snapshot)
    assert opened == ["http://127.0.0.1:9/v1"]
    chain.provider_for(snapshot, "ada", "execute")
    assert len(opened) == 1


def test_a_provider_that_cannot_be_asked_keeps_no_other_cold() -> None:
    chain.close_clients()  # what earlier tests of this process opened
    keyless = Entry(api_keys=())
    snapshot = company({"broken": keyless, "unknown": Entry(type="oracle"), "local": LOCAL})
    chain.warm(snapshot)
    assert list(chain._CLIENTS._open) == [("agents.llm.openai", LOCAL.base_url, "literal-key")]


def test_a_worker_without_a_company_starts_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def active() -> Any:
        asked.append(1)
        raise Unavailable("No company is set up yet.")

    monkeypatch.setattr(epochs, "active", active)
    monkeypatch.setattr(db, "release", lambda: asked.append("released"))
    worker._warm()
    assert asked == [1, "released"]
