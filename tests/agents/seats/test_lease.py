"""Leases: at most one holder, an epoch that never returns, Redis that decides nothing."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.db import connection, transaction

from agents.models.seats import Node, SeatLease
from agents.models.turns import Turn
from agents.seats import lease as leases
from agents.seats import presence, redis_keys
from agents.seats.lease import Lease
from crewlet.kernel.errors import Conflict, Fenced, NotFound
from crewlet.kernel.redis import client
from tests.agents.play import a_company, a_letter, a_node, lapse, post_now

pytestmark = pytest.mark.django_db(transaction=True)

TTL = 60.0


def claim(incarnation: str, room: int = 10) -> list[Lease]:
    return leases.claim(incarnation, incarnation.partition(":")[0], room=room, ttl=TTL)


def fenced(lease: Lease) -> bool:
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            leases.fence(cursor, lease.seat_id, lease.epoch)
    except Fenced:
        return True
    return False


@pytest.mark.covers("RUN-20")
def test_a_node_takes_its_share_and_nobody_else_gets_the_same_seats() -> None:
    seats = a_company("kofi", "mara", "ivo")
    one, two = a_node("one"), a_node("two")
    first = claim(one, room=2)
    second = claim(two)
    assert len(first) == 2
    assert len(second) == 1
    assert {x.seat_id for x in first + second} == {seats[h] for h in ("kofi", "mara", "ivo")}
    assert {x.epoch for x in first + second} == {1}
    assert claim(two) == []


def test_no_person_and_no_removed_seat_is_ever_held() -> None:
    seats = a_company("kofi")
    held = {x.seat_id for x in claim(a_node())}
    assert held == {seats["kofi"]}
    assert leases.removed([seats["kofi"], seats["ana"]]) == [seats["ana"]]


@pytest.mark.covers("RUN-20")
def test_release_keeps_the_row_and_the_next_grip_has_a_higher_number() -> None:
    a_company("kofi")
    one = a_node("one")
    (lease,) = claim(one)
    assert leases.release(lease)
    assert not leases.release(lease)
    assert fenced(lease)
    (again,) = claim(one)
    assert again.epoch == lease.epoch + 1
    assert fenced(lease)
    assert not fenced(again)


@pytest.mark.covers("RUN-20", "RUN-22")
def test_a_lapsed_holder_is_taken_over_and_its_fence_holds_no_more() -> None:
    a_company("kofi")
    one, two = a_node("one"), a_node("two")
    (old,) = claim(one)
    assert claim(two) == []
    lapse(one)
    client().delete(redis_keys.lease_key(old.seat_id))
    (new,) = claim(two)
    assert new.epoch == 2
    assert fenced(old)
    assert leases.held(one) == {}
    assert leases.held(two) == {new.seat_id: 2}
    assert not leases.release(old)
    assert not fenced(new)


def test_a_lapsed_holder_that_nobody_replaced_still_holds() -> None:
    a_company("kofi")
    one = a_node("one")
    (lease,) = claim(one)
    lapse(one)
    assert not fenced(lease)
    assert presence.renew(one, ttl=TTL, in_flight=0)
    assert claim(a_node("two")) == []


def test_a_flushed_redis_moves_no_seat() -> None:
    a_company("kofi")
    one, two = a_node("one"), a_node("two")
    (lease,) = claim(one)
    client().flushdb()
    assert claim(two) == []
    assert redis_keys.renew(one, [lease.seat_id], TTL)
    assert client().get(redis_keys.lease_key(lease.seat_id)) == one


def test_a_key_of_another_node_keeps_this_one_from_asking_postgres() -> None:
    seats = a_company("kofi")
    client().set(redis_keys.lease_key(seats["kofi"]), "faster:1")
    assert claim(a_node()) == []
    assert client().get(redis_keys.lease_key(seats["kofi"])) == "faster:1"


def test_without_redis_postgres_decides_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    import redis

    a_company("kofi")
    one, two = a_node("one"), a_node("two")

    def refuse() -> redis.Redis:
        raise redis.ConnectionError("gone")

    monkeypatch.setattr(redis_keys, "client", refuse)
    (lease,) = claim(one)
    assert claim(two) == []
    assert leases.release(lease)


def test_seats_with_an_open_turn_come_first_then_those_with_mail() -> None:
    seats = a_company("kofi", "mara", "ivo")
    by_id = sorted(seats[h] for h in ("kofi", "mara", "ivo"))
    quiet, mail, orphan = by_id
    post_now(mail, a_letter())
    Turn.objects.create(
        seat_id=orphan, work_key="w", reply_kind="none", trigger={}, batch_key="b",
        conversation="b", epoch=1, lease_epoch=1, started_at="2026-11-30T12:00:00Z",
    )  # fmt: skip
    one = a_node()
    assert [claim(one, room=1)[0].seat_id for _ in range(3)] == [orphan, mail, quiet]


@pytest.mark.covers("RUN-24")
def test_a_seat_whose_acquire_failed_is_left_alone_here_and_free_elsewhere() -> None:
    a_company("kofi")
    one, two = a_node("one"), a_node("two")
    (lease,) = claim(one)
    leases.give_up(lease, "one", TTL)
    assert claim(one) == []
    assert len(claim(two)) == 1


@pytest.mark.covers("RUN-20")
def test_an_epoch_never_falls() -> None:
    a_company("kofi")
    one = a_node()
    epochs = []
    for _ in range(3):
        (lease,) = claim(one)
        epochs.append(lease.epoch)
        leases.release(lease)
    assert epochs == [1, 2, 3]
    assert SeatLease.objects.get().epoch == 3


def test_two_live_processes_of_one_name_are_one_too_many() -> None:
    a_company("kofi")
    one = a_node("one")
    with pytest.raises(Conflict, match="CREWLET_NODE_ID"):
        a_node("one")
    lapse(one)
    a_node("one")
    assert Node.objects.get(id=one).ended_at is not None


@pytest.mark.covers("RUN-22")
def test_ending_an_incarnation_frees_its_seats_at_once_and_refuses_its_writes() -> None:
    a_company("kofi")
    one, two = a_node("one"), a_node("two")
    (old,) = claim(one)
    presence.end_if_live("one")
    assert fenced(old)
    assert client().get(redis_keys.lease_key(old.seat_id)) is None
    (new,) = claim(two)
    assert new.epoch == 2
    assert not presence.renew(one, ttl=TTL, in_flight=0)
    presence.end_if_live("one")  # a supervisor may say it twice
    with pytest.raises(NotFound, match="fleet show"):
        presence.live_incarnation("one")


def test_a_draining_node_leaves_the_count_of_the_fair_share() -> None:
    a_company("kofi", "mara")
    one = a_node("one")
    lapsed = a_node("two")
    a_node("three")
    lapse(lapsed)
    assert leases.counts() == (2, 2)
    presence.start_draining(one)
    assert leases.counts() == (2, 1)
    assert presence.is_draining(one)
    assert [(n["node"], n["stale"], n["draining"]) for n in presence.nodes()] == [
        ("one", False, True),
        ("three", False, False),
        ("two", True, False),
    ]


def test_seat_ids_are_of_the_type_that_python_holds() -> None:
    a_company("kofi")
    (lease,) = claim(a_node())
    assert isinstance(lease.seat_id, UUID)
