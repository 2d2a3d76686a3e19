"""Charts: every bucket is drawn, and one sentence says the numbers with their scope."""

from __future__ import annotations

import re
from typing import Any

import pytest

from crewlet.console.templatetags.charts import bars, budget_meter, sentence, share, stacked

DAYS: list[dict[str, Any]] = [
    {"label": "1 Mar", "values": [1200, 300]},
    {"label": "2 Mar", "values": [0, 0]},
    {"label": "3 Mar", "values": [None, None]},
    {"label": "4 Mar", "values": [2500, None]},
]
SCOPE = "Tokens by phase, 4 days to 4 Mar"


def window(**more: Any) -> dict[str, Any]:
    return {"used": 95, "limit": 100, "share": 0.95, "state": "near", **more}


@pytest.mark.covers("UI-31")
def test_every_bucket_is_drawn_and_an_unknown_one_is_no_nought() -> None:
    html = stacked(["Execute", "Review"], DAYS, SCOPE)
    assert html.count("<g>") == 4
    assert html.count('class="b0"') == 1
    assert html.count('class="unknown"') == 1
    assert "<title>1 Mar: Execute 1.2k, Review 300</title>" in html
    assert "<title>3 Mar: Execute unknown, Review unknown</title>" in html
    assert " style" not in html
    places = re.findall(r' (?:x|y|width|height)="([^"]+)"', html)
    assert all(place.endswith("%") for place in places if place != "120")


@pytest.mark.covers("UI-31")
def test_a_chart_says_its_scope_and_its_numbers_and_has_a_legend() -> None:
    html = stacked(["Execute", "Review"], DAYS, SCOPE)
    words = "Tokens by phase, 4 days to 4 Mar: 4k tokens, most 2.5k on 4 Mar; 1 unknown"
    assert f'role="img" height="120" aria-label="{words}"' in html
    assert '<li><i class="b1"></i>Execute</li><li><i class="b2"></i>Review</li>' in html
    assert sentence([], "Items completed in 14 days", "items") == (
        "Items completed in 14 days: no items"
    )
    one = bars([{"label": "1 Mar", "values": [3]}], "Items completed in 1 day", "items")
    assert "Items completed in 1 day: 3 items, most 3 on 1 Mar" in one


@pytest.mark.covers("UI-72")
@pytest.mark.parametrize(
    ("state", "tone", "words"),
    [
        ("ok", "done", "has room"),
        ("near", "need", "nearly used up"),
        ("refusing", "stop", "refused"),
    ],
)
def test_a_meter_takes_its_colour_from_the_state_and_not_from_the_figures(
    state: str, tone: str, words: str
) -> None:
    html = budget_meter(window(state=state, share=1.4), "This week")
    assert f'data-kind="{tone}"' in html
    assert words in html
    assert 'class="bar-fg" width="100%"' in html, "the bar ends where it ends"


def test_a_window_without_a_ceiling_has_no_bar() -> None:
    html = budget_meter(window(limit=None, share=None, state="ok"), "This week")
    assert "<svg" not in html
    assert "No ceiling" in html


def test_a_share_is_absent_when_unknown() -> None:
    assert [share(None), share(0.004), share(0.344), share(0.0)] == ["", "< 1 %", "34 %", "0 %"]


def test_what_a_label_holds_is_inert() -> None:
    html = bars([{"label": "<b>", "values": [1]}], "A & B", "items")
    assert "<b>" not in html
    assert "A &amp; B" in html
