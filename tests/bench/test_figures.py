"""The bench's arithmetic: what it shows must be what was measured."""

from __future__ import annotations

import pytest

from bench.figures import (
    Aim,
    Spread,
    ideal_per_second,
    most_repeated,
    percentile,
    table,
)


def test_a_spread_shows_the_least_the_middle_and_the_most() -> None:
    spread = Spread.of([3.0, 1.0, 2.0, 10.0])
    assert (spread.least, spread.middle, spread.most) == (1.0, 2.5, 10.0)
    assert spread.show() == "1.0/2.5/10.0"
    assert spread.show(0) == "1/2/10"
    assert spread.as_json() == {"min": 1.0, "median": 2.5, "max": 10.0}


def test_nothing_measured_is_no_figure() -> None:
    with pytest.raises(ValueError, match="Nothing was measured"):
        Spread.of([])
    with pytest.raises(ValueError, match="Nothing was measured"):
        percentile([], 0.95)


@pytest.mark.parametrize(
    ("part", "found"), [(0.5, 10), (0.95, 19), (0.951, 20), (1.0, 20), (0.01, 1)]
)
def test_a_percentile_is_a_value_that_was_measured(part: float, found: int) -> None:
    assert percentile(list(range(20, 0, -1)), part) == found


def test_the_ideal_counts_only_the_models_time() -> None:
    assert ideal_per_second(32, 3, 0.2) == pytest.approx(53.33, abs=0.01)


def test_a_query_in_a_loop_shows_within_its_transaction_alone() -> None:
    fence = "SELECT 1\n  FROM lease"
    once = [[fence, "INSERT a"], [fence, "INSERT b"], [fence], []]
    assert most_repeated(once).times == 1
    looped = most_repeated([*once, [fence, *["SELECT name"] * 7]])
    assert (looped.times, looped.statement) == (7, "SELECT name")
    assert most_repeated([[fence, "SELECT 1 FROM lease"]]).times == 2


def test_an_aim_is_met_on_its_bound_and_says_so_first() -> None:
    least = Aim("share", 0.85, 0.85, "of ideal", at_least=True)
    most = Aim("commits", 9, 8, "commits")
    assert least.met and least.show().startswith("met ")
    assert not most.met and most.show() == "MISSED  commits: 9 commits (aim <= 8)"
    assert most.as_json()["met"] is False
    assert not Aim("share", 0.84, 0.85, "", at_least=True).met


def test_a_table_is_aligned() -> None:
    shown = table(["what", "ms"], [["a turn", "1.0"], ["b", "100.0"]]).splitlines()
    assert shown == [
        "what       ms",
        "------  -----",
        "a turn    1.0",
        "b       100.0",
    ]
