"""Colour means a state, the action, or a series of a chart. Who or what a thing is is neutral."""

from __future__ import annotations

import re

import pytest

from crewlet.environment import BASE_DIR

pytestmark = pytest.mark.covers("UI-20")

CSS = sorted((BASE_DIR / "static" / "css").rglob("*.css"))
TEMPLATES = sorted((BASE_DIR / "templates").rglob("*.html"))
RULE = re.compile(r"([^{}]+)\{([^{}]*)\}")
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
STATE = re.compile(r"var\(--(work|need|stop|done)-(fill|ink|soft)\)")
SERIES = re.compile(r"var\(--data-\d\)")
# What draws a seat, a person, a unit, a key, a tag, a node, a tool: the last part of a selector.
IDENTITY = re.compile(
    r"\.(av|who|tag|key|keychip|unit|server|tool|node|vendor)(\[[^\]]*\]|:[\w-]+)*$"
)
TONES = {"work", "need", "stop", "done", "idle"}


def _rules() -> list[tuple[str, str, str]]:
    found = []
    for file in CSS:
        for selectors, body in RULE.findall(COMMENT.sub("", file.read_text(encoding="utf-8"))):
            found += [(file.name, part.strip(), body) for part in selectors.split(",")]
    return found


def test_nothing_that_names_who_or_what_a_thing_is_takes_a_colour_of_state_or_series() -> None:
    rules = _rules()
    assert sum(bool(IDENTITY.search(selector)) for _, selector, _ in rules) > 10
    coloured = [
        f"{file}: {selector}"
        for file, selector, body in rules
        if IDENTITY.search(selector) and (STATE.search(body) or SERIES.search(body))
    ]
    assert coloured == []


def test_a_tone_is_one_of_the_states_wherever_a_template_names_it() -> None:
    named = [
        (file.name, tone)
        for file in TEMPLATES
        for tone in re.findall(r'data-tone="([a-z]+)"', file.read_text(encoding="utf-8"))
    ]
    assert len(named) > 10
    assert [pair for pair in named if pair[1] not in TONES] == []


def test_series_are_four_and_a_neutral_one_and_only_charts_have_them() -> None:
    used = {
        (file, number)
        for file, _, body in _rules()
        for number in re.findall(r"var\(--data-(\d)\)", body)
    }
    assert {number for _, number in used} <= {"0", "1", "2", "3", "4"}
    assert {file for file, _ in used} <= {
        "chart.css",
        "home.css",
        "spend.css",
        "kit.css",
        "live.css",
        "turn.css",
    }
