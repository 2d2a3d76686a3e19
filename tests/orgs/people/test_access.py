"""The authority rules over seats, against a real company."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from crewlet.kernel.actors import Actor, ActorKind, engine_actor
from crewlet.kernel.authority import RULES, Grant
from crewlet.kernel.errors import ErrorCode, Forbidden, NotFound, Unavailable
from orgs import access, epochs
from orgs.chart import Chart
from orgs.models.seats import Seat, SeatKind
from tests.support.people import a_seat

pytestmark = pytest.mark.django_db

NOBODY = SimpleNamespace()


class TinyChart:
    """ana leads kofi, kofi leads lee; zed stands apart."""

    seats = dict.fromkeys(("ana", "kofi", "lee", "zed"))
    _above = {("ana", "kofi"), ("ana", "lee"), ("kofi", "lee")}

    def is_above(self, above: str, below: str) -> bool:
        return (above, below) in self._above

    def managers(self, handle: str) -> tuple[str, ...]:
        return {"kofi": ("ana",), "lee": ("kofi",)}.get(handle, ())


@pytest.fixture
def company(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"is_above", "managers"} <= set(dir(Chart))
    monkeypatch.setattr(epochs, "active", lambda: SimpleNamespace(chart=TinyChart()))


def seat(handle: str, *grants: Grant, kind: ActorKind = ActorKind.SEAT) -> Actor:
    return Actor(kind, handle, handle.title(), frozenset(grants), handle=handle)


def holds(rule: str, actor: Actor, handle: str) -> bool:
    try:
        RULES[rule](actor, SimpleNamespace(seat=f"@{handle}"), None)
    except Forbidden:
        return False
    return True


@pytest.mark.covers("ORG-121")
@pytest.mark.usefixtures("company")
@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("leads_seat", {"ana", "kofi"}),
        ("leads_or_own_seat", {"ana", "kofi", "lee"}),
        ("own_seat", {"lee"}),
        ("not_own_seat", {"ana", "kofi", "zed"}),
        ("leads_seat_or_operates", {"ana", "kofi"}),
    ],
)
def test_who_passes_a_rule_over_the_seat_lee(rule: str, allowed: set[str]) -> None:
    assert {one for one in TinyChart.seats if holds(rule, seat(one), "lee")} == allowed


@pytest.mark.usefixtures("company")
def test_a_refusal_names_whom_to_ask() -> None:
    with pytest.raises(Forbidden, match="kofi"):
        RULES["leads_seat"](seat("zed"), SimpleNamespace(seat="lee"), None)


@pytest.mark.usefixtures("company")
def test_fleet_operate_stands_for_leading_but_not_for_an_agent() -> None:
    rule = "leads_seat_or_operates"
    assert holds(rule, seat("zed", Grant.FLEET_OPERATE, kind=ActorKind.PERSON), "lee")
    assert holds(rule, engine_actor("beat"), "lee")
    assert not holds(rule, seat("zed", Grant.FLEET_OPERATE), "lee")
    with pytest.raises(Forbidden) as refused:
        RULES[rule](seat("zed", kind=ActorKind.PERSON), SimpleNamespace(seat="lee"), None)
    assert refused.value.detail["grants"] == ["fleet:operate"]


@pytest.mark.usefixtures("company")
@pytest.mark.parametrize(
    ("args", "target"),
    [
        (NOBODY, SimpleNamespace(handle="lee")),
        (NOBODY, SimpleNamespace(seat=SimpleNamespace(handle="lee"))),
        (SimpleNamespace(seat="@lee"), None),
        (SimpleNamespace(handle="lee"), None),
    ],
)
def test_a_rule_finds_the_seat_in_the_target_or_the_arguments(args: object, target: object) -> None:
    assert access.seat_of(args, target) == "lee"


def test_a_rule_over_no_seat_is_a_bug() -> None:
    with pytest.raises(TypeError):
        access.seat_of(NOBODY, None)


@pytest.mark.covers("ORG-121")
def test_when_no_company_can_be_read_the_rule_cannot_tell() -> None:
    """503, not 403."""
    with pytest.raises(Unavailable):
        RULES["leads_seat"](seat("ana"), SimpleNamespace(seat="lee"), None)


@pytest.mark.covers("ORG-121")
@pytest.mark.parametrize(
    ("rule", "allowed"),
    [
        ("not_agent", {ActorKind.PERSON, ActorKind.MACHINE, ActorKind.ENGINE}),
        ("person_only", {ActorKind.PERSON}),
    ],
)
def test_rules_by_kind_of_actor(rule: str, allowed: set[ActorKind]) -> None:
    assert {kind for kind in ActorKind if holds(rule, seat("a", kind=kind), "lee")} == allowed


def test_who_is_no_person_is_told_what_to_do() -> None:
    with pytest.raises(Forbidden, match="people list") as refused:
        RULES["has_inbox"](seat("ci", kind=ActorKind.MACHINE), None, None)
    assert refused.value.code is ErrorCode.UNBOUND


@pytest.mark.parametrize("fetch", [access.seat_by_handle, access.person_by_login])
def test_what_is_not_there_is_not_found(fetch: Callable[[str], object]) -> None:
    with pytest.raises(NotFound):
        fetch("nobody")


def test_a_seat_is_fetched_by_its_address_while_it_lives() -> None:
    kofi = a_seat("kofi", SeatKind.AGENT)
    assert access.seat_by_handle("@kofi") == kofi
    Seat.objects.filter(id=kofi.id).delete()
    with pytest.raises(NotFound):
        access.seat_by_handle("kofi")
