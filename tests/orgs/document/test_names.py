"""One rule turns a name into an address."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgs.document.identity import agent_id
from orgs.document.names import derive_handle, derive_unit_key, fold_key, is_handle, is_unit_key


@pytest.mark.covers("ORG-5")
@pytest.mark.parametrize(
    ("name", "handle"),
    [
        ("QA/Test Lead", "qa-test-lead"),
        ("C++ Developer", "c-developer"),
        ("R&D", "r-d"),
        ("  spaced  name ", "spaced-name"),
        ("--x--", "x"),
        ("a_b", "a-b"),
        ("Ana María", "ana-mar-a"),
        ("İstanbul Lead", "i-stanbul-lead"),
        ("STRASSE ẞ", "strasse"),
        ("設計", ""),
        ("设计 Lead", "lead"),
        ("Лид", ""),
        ("\U0001f469‍\U0001f4bb Dev", "dev"),
        ("ﬁnance", "nance"),
        ("\uff11\uff12\uff13", ""),
        ("équipe", "quipe"),
        ("équipe", "quipe"),
        ("tab\tname", "tab-name"),
        ("null\x00byte", "null-byte"),
        ("1", "1"),
        ("A" * 80, "a" * 80),
    ],
)
def test_a_name_gives_its_handle(name: str, handle: str) -> None:
    assert derive_handle(name) == handle


@pytest.mark.covers("ORG-5")
@given(st.text(max_size=80))
def test_a_derived_handle_is_one_or_nothing_and_derives_itself(name: str) -> None:
    handle = derive_handle(name)
    assert handle == "" or len(handle) > 64 or is_handle(handle)
    assert derive_handle(handle) == handle


@pytest.mark.covers("ORG-6")
def test_a_unit_key_starts_with_a_letter_and_folds() -> None:
    assert derive_unit_key("Core Team") == "core-team"
    assert derive_unit_key("3rd Floor") == ""
    assert is_unit_key("Core_Team")
    assert not is_unit_key("3rd")
    assert not is_unit_key("a" * 65)
    assert fold_key("Core Team") == fold_key("core-team") == fold_key("CORE-TEAM")


@pytest.mark.covers("ORG-8")
def test_an_agent_has_one_id_everywhere_and_nobody_has_the_id_of_nothing() -> None:
    assert str(agent_id("Acme", "ceo")) == "bd355a82-fc42-5efa-8778-4e44dfc85542"
    assert agent_id("Acme", "ceo") != agent_id("Acme", "cto")
    assert agent_id("Acme", "ceo") != agent_id("Other", "ceo")
    assert agent_id("Acme", "ceo").version == 5
    for company, handle in (("", "ceo"), ("Acme", ""), (" ", "ceo")):
        with pytest.raises(ValueError, match="needs"):
            agent_id(company, handle)
