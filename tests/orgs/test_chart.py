"""Who sits where, who leads, who manages whom: examples by rule, then what holds for any chart."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgs.chart import Chart, derive
from orgs.document.minting import minted
from orgs.document.outline import outline_of
from orgs.document.source import read
from orgs.document.validation import validate_data, validate_text
from tests.orgs.companies import TWO_TEAMS, company


def chart(text: str) -> Chart:
    return derive(outline_of(read(company(text)).data))


def test_the_walk_goes_from_the_root_into_each_unit_before_its_children() -> None:
    whole = derive(outline_of(read(TWO_TEAMS).data))
    assert [seat.handle for seat in whole.walk()] == [
        "rita", "chief", "baker-lead", "baker", "night-baker", "shop-lead", "seller",
    ]  # fmt: skip
    assert [unit.key for unit in whole.walk_units()] == ["bakery", "night", "shop"]


@pytest.mark.covers("ORG-10", "ORG-13")
def test_a_unit_without_a_lead_takes_the_nearest_above() -> None:
    """The lead and the channel come down."""
    whole = derive(outline_of(read(TWO_TEAMS).data))
    assert whole.effective_lead("night") == "baker-lead"
    assert whole.units["night"].lead_inherited
    assert not whole.units["bakery"].lead_inherited
    assert whole.leads("baker-lead") == ("bakery", "night")
    assert whole.units["night"].channel == "ovens"
    assert whole.reports("baker-lead") == ("baker", "night-baker")


@pytest.mark.covers("ORG-16")
def test_a_lead_that_names_nobody_is_absent_and_told_once() -> None:
    found = chart(
        """
        units:
          - name: A
            lead: ghost
            children: [{name: B, roles: [{name: x}]}]
        """
    )
    assert found.effective_lead("b") is None
    assert [d.reference for d in found.dangling] == ["ghost"]


@pytest.mark.covers("ORG-9")
def test_a_unit_key_means_its_subtree_without_the_lister() -> None:
    found = chart(
        """
        units:
          - name: Top
            roles: [{name: boss, manages: [Top]}, {name: a}]
            children: [{name: Low, roles: [{name: b}]}]
        """
    )
    assert found.reports("boss") == ("a", "b")
    assert found.cycles == ()


@pytest.mark.covers("ORG-9")
def test_a_word_that_is_seat_and_unit_means_the_seat() -> None:
    found = chart(
        """
        roles: [{name: boss, manages: [core]}]
        units: [{name: core, roles: [{name: core}, {name: other}]}]
        """
    )
    assert found.reports("boss") == ("core",)


def test_an_empty_unit_is_not_a_reference_to_nobody() -> None:
    found = chart("roles: [{name: boss, manages: [empty]}]\nunits: [{name: empty}]\n")
    assert found.dangling == ()
    assert found.reports("boss") == ()


@pytest.mark.covers("ORG-11")
def test_a_lead_manages_members_whom_no_other_member_manages() -> None:
    found = chart(
        """
        roles: [{name: outside, manages: [c]}]
        units:
          - name: U
            lead: l
            roles:
              - {name: l}
              - {name: a, manages: [b]}
              - {name: b}
              - {name: c}
              - {name: above, manages: [l]}
        """
    )
    assert found.reports("l") == ("a", "c")
    assert found.managers("b") == ("a",)
    assert found.managers("above") == ()
    assert found.managers("c") == ("outside", "l")
    assert found.cycles == ()


@pytest.mark.covers("ORG-12")
def test_the_primary_manager_is_the_first_lister_and_a_unit_lister_comes_last() -> None:
    found = chart(
        """
        roles:
          - {name: ceo, manages: [div]}
          - {name: first, manages: [m]}
        units:
          - name: div
            lead: l
            roles: [{name: l}, {name: second, manages: [m]}, {name: m}, {name: n}]
        """
    )
    assert found.managers("m") == ("first", "second", "ceo")
    assert found.primary_manager("m") == "first"
    assert found.primary_manager("n") == "l"
    assert found.primary_manager("ceo") is None


@pytest.mark.covers("ORG-12")
def test_circles_are_reported_and_followed_once() -> None:
    found = chart(
        """
        roles:
          - {name: a, manages: [b]}
          - {name: b, manages: [c]}
          - {name: c, manages: [a, d]}
          - {name: d, manages: [d]}
        """
    )
    assert found.cycles == (("a", "b", "c"),)
    assert found.is_above("a", "d")
    assert found.is_above("a", "b") and found.is_above("b", "a")
    assert not found.is_above("a", "a")
    assert not found.is_above("d", "a")


@pytest.mark.covers("ORG-14")
def test_a_root_seat_is_placed_by_its_unit_before_anything_is_derived() -> None:
    found = chart(
        """
        roles: [{name: guest, unit: Core Team}]
        units: [{name: Core Team, lead: l, roles: [{name: l}]}]
        """
    )
    assert found.seats["guest"].unit == "core-team"
    assert found.seats["guest"].declared_at_root
    assert found.reports("l") == ("guest",)
    assert found.units["core-team"].members == ("guest", "l")


@pytest.mark.covers("ORG-15")
def test_a_project_belongs_to_the_first_unit_that_names_it() -> None:
    """Its unit's lead leads it."""
    found = chart(
        """
        roles: [{name: solo, project: SOLO}, {name: also, project: ENG}]
        units:
          - {name: A, project: ENG, lead: x, roles: [{name: x}]}
          - {name: B, project: ENG, children: [{name: C, roles: [{name: y}]}]}
        """
    )
    owners = found.projects()
    assert (owners["ENG"].unit, owners["ENG"].lead) == ("a", "x")
    assert (owners["SOLO"].seat, owners["SOLO"].lead) == ("solo", "solo")
    assert found.home_project("y") == "ENG"
    assert found.home_project("solo") == "SOLO"


@pytest.mark.covers("ORG-7")
def test_names_are_display_and_a_name_still_finds_its_seat() -> None:
    found = chart(
        """
        roles: [{name: Boss, manages: [Tech Lead]}]
        units:
          - name: U
            lead: Tech Lead
            roles: [{name: Tech Lead}, {name: Tech Lead, handle: t2}]
        """
    )
    assert found.effective_lead("u") == "tech-lead"
    assert found.reports("boss") == ("tech-lead",)


@pytest.mark.covers("ORG-17")
def test_a_chain_hash_follows_the_place_and_not_the_label() -> None:
    text = """
    units:
      - name: A
        id: a
        children: [{name: B, id: b, roles: [{name: x}]}]
    """
    before = chart(text).chain_hash("x")
    assert chart(text.replace("name: B", "name: Bee")).chain_hash("x") == before
    assert chart(text.replace("id: a", "id: z")).chain_hash("x") != before
    assert chart("units: [{name: B, id: b, roles: [{name: x}]}]").chain_hash("x") != before


def test_a_valid_document_gives_each_seat_its_role() -> None:
    reading = validate_text(TWO_TEAMS)
    assert reading.document is not None
    whole = Chart.of(reading.document)
    night = whole.seats["night-baker"]
    assert night.role is not None
    assert night.role.goal == night.goal == "Bake before six"
    unit = whole.unit_of("night-baker")
    assert unit is not None and unit.key == "night"
    assert whole.unit_of("rita") is None


# -- what holds for any company --------------------------------------------------------------

_handles = st.sampled_from([f"s{n}" for n in range(7)])
_keys = st.sampled_from(["u0", "u1", "u2", "s1", "ghost"])


@st.composite
def companies(draw: st.DrawFn) -> dict[str, Any]:
    unused = draw(st.permutations([f"s{n}" for n in range(7)]))
    keys = draw(st.permutations(["u0", "u1", "u2", "s1"]))
    seats, units = list(unused), list(keys)

    def roles(most: int) -> list[dict[str, Any]]:
        made = []
        for _ in range(draw(st.integers(0, min(most, len(seats))))):
            handle = seats.pop()
            role: dict[str, Any] = {"name": handle.upper(), "handle": handle}
            manages = draw(st.lists(_handles | _keys, max_size=3))
            made.append(role | ({"manages": manages} if manages else {}))
        return made

    def unit(depth: int) -> dict[str, Any]:
        key = units.pop()
        made: dict[str, Any] = {"name": key.upper(), "id": key, "roles": roles(3)}
        if draw(st.booleans()):
            made["lead"] = draw(_handles)
        if depth and units and draw(st.booleans()):
            made["children"] = [unit(depth - 1)]
        return made

    top = roles(2)
    tree = [unit(2) for _ in range(draw(st.integers(0, 2))) if units]
    return {"name": "Any", "roles": top, "units": tree}


@given(companies())
def test_nobody_manages_themselves_and_both_sides_agree(data: dict[str, Any]) -> None:
    found = derive(outline_of(data))
    for seat in found.walk():
        assert seat.handle not in seat.manages
        assert len(set(seat.manages)) == len(seat.manages)
        for member in seat.manages:
            assert seat.handle in found.managers(member)
        for manager in seat.managers:
            assert seat.handle in found.reports(manager)
    assert set(found.listings) == {
        (seat.handle, member) for seat in found.walk() for member in seat.manages
    }


@given(companies())
def test_every_seat_stands_in_one_place_and_every_member_of_a_led_unit_has_a_manager(
    data: dict[str, Any],
) -> None:
    found = derive(outline_of(data))
    placed = [h for unit in found.walk_units() for h in unit.members]
    assert len(placed) == len(set(placed))
    for unit in found.walk_units():
        for member in unit.members:
            assert found.seats[member].unit == unit.key
            below_lead = (member, unit.lead) in found.listings
            if unit.lead is not None and member != unit.lead and not below_lead:
                assert found.managers(member)


@pytest.mark.covers("ORG-11")
@given(companies())
def test_auto_managing_closes_no_circle_of_two(data: dict[str, Any]) -> None:
    found = derive(outline_of(data))
    for (lister, member), via in found.listings.items():
        if via == "lead":
            assert (member, lister) not in found.listings


@pytest.mark.covers("ORG-10")
@given(companies())
def test_a_lead_is_the_nearest_one_named(data: dict[str, Any]) -> None:
    found = derive(outline_of(data))
    for unit in found.walk_units():
        if unit.parent is not None and unit.lead_inherited:
            assert unit.lead == found.effective_lead(unit.parent)
        assert unit.lead is None or unit.lead in found.seats


@given(companies())
def test_is_above_is_what_walking_down_reaches(data: dict[str, Any]) -> None:
    found = derive(outline_of(data))
    for seat in found.walk():
        reached: set[str] = set()
        for _ in range(len(found.seats)):
            reached |= set(found.reports(seat.handle))
            reached |= {low for high in reached for low in found.reports(high)}
        assert found.below(seat.handle) == reached - {seat.handle}
        in_circle = any(seat.handle in circle for circle in found.cycles)
        assert in_circle == (seat.handle in reached)


@pytest.mark.covers("ORG-7")
@given(companies())
def test_writing_the_addresses_out_changes_nothing_in_the_chart(data: dict[str, Any]) -> None:
    first = validate_data(data)
    if first.document is None:
        return
    written = minted(first.data, first.chart)
    second = validate_data(written)
    assert second.document is not None
    assert second.chart.seats == first.chart.seats
    assert second.chart.units == first.chart.units
    assert minted(written, second.chart) == written


@pytest.mark.parametrize("count", [400])
def test_a_long_line_of_managers_is_no_recursion(count: int) -> None:
    roles = [{"name": f"s{n}", "manages": [f"s{n + 1}"]} for n in range(count)]
    found = derive(outline_of({"name": "Long", "roles": [*roles, {"name": f"s{count}"}]}))
    assert found.is_above("s0", f"s{count}")
    assert found.cycles == ()
