"""How many seats a node holds: pure rules."""

from __future__ import annotations

from uuid import UUID

import pytest

from agents.seats.placement import fair_share, room, to_give_back

SEATS = [UUID(int=n) for n in range(1, 8)]


@pytest.mark.parametrize(
    ("seats", "nodes", "share"), [(0, 1, 0), (5, 1, 5), (5, 2, 3), (6, 2, 3), (2, 5, 1), (3, 0, 0)]
)
def test_the_share_is_the_seats_over_the_nodes_rounded_up(
    seats: int, nodes: int, share: int
) -> None:
    assert fair_share(seats, nodes) == share


def test_a_full_node_has_no_room() -> None:
    assert [room(held, 3) for held in (0, 3, 5)] == [3, 0, 0]


def test_a_node_above_its_share_lets_two_idle_seats_go_and_never_a_busy_one() -> None:
    busy = {SEATS[0], SEATS[1]}
    assert to_give_back(SEATS, 3, busy.__contains__) == [SEATS[2], SEATS[3]]
    assert to_give_back(SEATS[:4], 3, busy.__contains__) == [SEATS[2]]
    assert to_give_back(SEATS[:2], 1, busy.__contains__) == []
    assert to_give_back(SEATS[:3], 3, busy.__contains__) == []


@pytest.mark.parametrize("nodes", [1, 2, 3, 5])
@pytest.mark.parametrize("seats", [0, 1, 7, 24])
def test_shares_always_cover_all_seats_and_settle(seats: int, nodes: int) -> None:
    share = fair_share(seats, nodes)
    assert share * nodes >= seats
    held = [seats, *[0] * (nodes - 1)]
    for _ in range(200):
        free = seats - sum(held)
        for i in range(nodes):
            let_go = min(max(0, held[i] - share), 2)
            held[i] -= let_go
            free += let_go
        for i in range(nodes):
            taken = min(room(held[i], share), free)
            held[i] += taken
            free -= taken
    before = list(held)
    assert sum(held) == seats
    assert max(held) <= share
    assert before == held
