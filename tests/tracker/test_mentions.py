"""Who a text calls, whatever stands around the handle."""

from __future__ import annotations

import pytest

from tracker.mentions import Roster, find

ROSTER = Roster.of(
    {
        "agent-swe": "Software Engineer",
        "agent-cto": "Chief Engineer",
        "mei": "Mei 美",
        "tf": "David [TF]",
        "ann": "Builder",
        "bob": "Tester",
        "cat": "Tester",
    }
)


@pytest.mark.parametrize(
    ("text", "handles"),
    [
        ("@agent-swe, please look", ["agent-swe"]),
        ("请@agent-swe看一下", ["agent-swe"]),
        ("ดู@agent-sweที่นี่", ["agent-swe"]),
        ("「@agent-swe」", ["agent-swe"]),
        ("> @agent-swe wrote", ["agent-swe"]),
        ("**@agent-swe** and _@mei_", ["agent-swe", "mei"]),
        ("@AGENT-SWE? @agent-swe!", ["agent-swe"]),
        ("@agent-swe's lamp", ["agent-swe"]),
        ("[see @agent-swe](https://lantern.example)", ["agent-swe"]),
        ("- [ ] @mei\n- @agent-cto", ["mei", "agent-cto"]),
        ("| who |\n|---|\n| @mei |", ["mei"]),
        ("\u202e@agent-swe", ["agent-swe"]),
        ("@agent-swe\u00a0now", ["agent-swe"]),
        ("@Builder and @Chief Engineer: done", ["ann", "agent-cto"]),
        ("@David [TF] hello", ["tf"]),
        ("(@mei/@agent-swe)", ["mei"]),
        ("\uff08@agent-swe\uff09", ["agent-swe"]),
        ("@agent-swe.", ["agent-swe"]),
        ("[David [TF] @agent-swe](x)", ["agent-swe"]),
    ],
)
def test_a_handle_or_a_name_that_one_seat_bears_is_a_mention(text: str, handles: list[str]) -> None:
    """K05."""
    found = find(text, ROSTER)
    assert list(found.handles) == handles


@pytest.mark.parametrize(
    "text",
    [
        "`@agent-swe`",
        "```\n@agent-swe\n```",
        "~~~\n@agent-swe",
        "    @agent-swe in an indented block",
        "<!-- @agent-swe -->",
        "\\@agent-swe",
        "&#64;agent-swe",
        "agent-swe@lantern.example and x@agent-swe",
        "é@agent-swe",
        "https://social.example/@agent-swe",
        "social.example/@agent-swe",
        "[profile](https://social.example/@agent-swe)",
        "@agent-swe@social.example",
        "npm i @agent/core",
        "\uff20agent-swe",
        "a lone @ sign, and @",
    ],
)
def test_code_addresses_and_escapes_call_nobody(text: str) -> None:
    """K05."""
    found = find(text, ROSTER)
    assert found.handles == ()
    assert found.unknown == ()


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("@ghost", "ghost"),
        ("@all hands", "all"),
        ("@agent-swe-2", "agent-swe-2"),
        ("@agent\u200b-swe", "agent\u200b-swe"),
    ],
)
def test_an_unknown_mention_is_given_back_as_it_was_written(text: str, written: str) -> None:
    """K05."""
    found = find(text, ROSTER)
    assert found.handles == ()
    assert [miss.written for miss in found.unknown] == [written]


def test_a_name_that_two_seats_bear_gives_back_the_candidates() -> None:
    found = find("@Tester pls", ROSTER)
    assert found.handles == ()
    assert found.unknown[0].candidates == ("bob", "cat")


def test_everybody_is_called_once_in_the_order_of_the_text() -> None:
    found = find("@mei @agent-swe @Mei @MEI", ROSTER)
    assert found.handles == ("mei", "agent-swe")
