"""The order keys hold their promise for any sequence of inserts."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tracker import rank

places = st.lists(st.floats(min_value=0, max_value=1), max_size=120)


@pytest.mark.covers("TRK-30")
@given(places)
def test_any_sequence_of_inserts_keeps_every_key_distinct_and_in_place(spots: list[float]) -> None:
    order: list[str] = []
    for spot in spots:
        place = round(spot * len(order))
        low = order[place - 1] if place else None
        high = order[place] if place < len(order) else None
        order.insert(place, rank.between(low, high))
    assert order == sorted(set(order))
    assert all(rank.is_key(key) for key in order)


@given(places, st.integers(min_value=1, max_value=300))
def test_a_spread_rises_and_stays_between_its_neighbours(spots: list[float], count: int) -> None:
    low = rank.first()
    for spot in spots:
        low = rank.between(low, rank.between(low, None)) if spot < 0.5 else rank.between(low, None)
    high = rank.between(low, None)
    keys = rank.spread(low, high, count)
    assert keys == sorted(set(keys))
    assert len(keys) == count
    assert low < keys[0]
    assert keys[-1] < high
    assert all(rank.is_key(key) for key in keys)


@pytest.mark.covers("TRK-30")
def test_appending_and_prepending_never_make_a_key_longer() -> None:
    low = high = rank.first()
    for _ in range(2000):
        high = rank.between(high, None)
        low = rank.between(None, low)
    assert len(low) == len(high) == rank.HEAD


def test_both_ends_still_give_keys_when_the_heads_are_used_up() -> None:
    top, bottom = "z" * rank.HEAD, "0" * rank.HEAD + "1"
    above, below = rank.between(top, None), rank.between(None, bottom)
    assert top < above
    assert below < bottom
    assert rank.is_key(above)
    assert rank.is_key(below)


def test_keys_that_are_not_in_order_are_refused() -> None:
    with pytest.raises(ValueError, match="does not come before"):
        rank.between("b00000", "a00000")
    with pytest.raises(ValueError, match="not an order key"):
        rank.between("abc", None)


def test_a_tail_never_ends_in_the_lowest_digit() -> None:
    assert not rank.is_key("V00000a0")
    assert rank.is_key("V000000a")
