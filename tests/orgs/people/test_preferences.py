"""What a person starred and how they like to read."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from crewlet.kernel.actions import Door, Result, perform
from crewlet.kernel.actors import Actor, ActorKind
from crewlet.kernel.authority import ALL_GRANTS
from crewlet.kernel.errors import Conflict, Forbidden, Invalid, NotFound
from orgs.models.people import Person
from orgs.models.preferences import Preference, Star
from orgs.people.actors import session_actor
from orgs.queries.preferences import MAX_STARS, preferences_of, starred_rows, stars_of
from tests.support.people import a_person

pytestmark = pytest.mark.django_db(transaction=True)


def do(actor: Actor, name: str, /, **args: Any) -> Result:
    return perform(actor, name, args, op_id=None, door=Door.FORM).unwrap()


@pytest.fixture
def me(ana: Person) -> Actor:
    """Ana, acting."""
    return session_actor(ana)


def test_a_star_is_kept_once_and_is_mine_alone(me: Actor) -> None:
    kim = session_actor(a_person("kim.cho"))
    do(me, "star", ref="person:kim.cho")
    do(me, "star", ref="person:kim.cho")
    assert stars_of(me) == ["person:kim.cho"]
    assert stars_of(kim) == []
    do(kim, "unstar", ref="person:kim.cho")
    assert stars_of(me) == ["person:kim.cho"]
    assert do(me, "unstar", ref="person:kim.cho").message == "The star is gone."
    assert do(me, "unstar", ref="person:kim.cho").message == "There was no star."


def test_a_star_names_a_thing_that_is_there(me: Actor) -> None:
    with pytest.raises(NotFound, match=r"no person nobody\.here"):
        do(me, "star", ref="person:nobody.here")
    with pytest.raises(Invalid, match="Nothing is called 'comet'"):
        do(me, "star", ref="comet:halley")
    with pytest.raises(Invalid):
        do(me, "star", ref="no colon")


def test_stars_have_an_end_that_is_said(me: Actor, ana: Person) -> None:
    Star.objects.bulk_create(
        [Star(person=ana, ref=f"item:A-{n}", at=ana.created_at) for n in range(MAX_STARS)]
    )
    with pytest.raises(Conflict, match="take a star away first"):
        do(me, "star", ref="person:ana.silva")


def test_a_machine_has_no_stars_and_no_preferences() -> None:
    robot = Actor(kind=ActorKind.MACHINE, login="token:ci", name="ci", grants=ALL_GRANTS)
    with pytest.raises(Forbidden):
        do(robot, "star", ref="person:ana.silva")
    with pytest.raises(Forbidden):
        do(robot, "set_preferences", theme="dark")
    assert (stars_of(robot), preferences_of(robot)["single_keys"]) == ([], True)


def test_a_starred_thing_without_a_page_is_not_a_row(me: Actor) -> None:
    do(me, "star", ref="person:ana.silva")
    assert starred_rows(me) == []


@pytest.mark.covers("UI-6")
def test_preferences_are_kept_by_person_and_go_back_to_the_default(me: Actor) -> None:
    do(me, "set_preferences", theme="dark", timezone="Asia/Tokyo", single_keys=False)
    do(me, "set_preferences", density="compact")
    assert preferences_of(me) == {
        "theme": "dark",
        "density": "compact",
        "timezone": "Asia/Tokyo",
        "date_style": "",
        "single_keys": False,
    }
    do(me, "set_preferences", theme="system", timezone="company", density="cosy")
    chosen = preferences_of(me)
    assert (chosen["theme"], chosen["timezone"], chosen["density"]) == ("", "", "")
    assert Preference.objects.count() == 1


def test_a_time_zone_that_nobody_keeps_is_refused(me: Actor) -> None:
    with pytest.raises(Invalid, match="no time zone"):
        do(me, "set_preferences", timezone="Mars/Olympus")
    assert preferences_of(me)["timezone"] == ""


def test_the_plain_form_sets_them_and_goes_back(as_ana: Client, me: Actor) -> None:
    form = {"theme": "light", "single_keys": "false", "next": "/settings/preferences"}
    answer = as_ana.post("/act/set_preferences", form)
    assert (answer.status_code, answer["Location"]) == (303, "/settings/preferences")
    chosen = preferences_of(me)
    assert (chosen["theme"], chosen["single_keys"]) == ("light", False)
