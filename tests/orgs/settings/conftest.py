"""The company of the tracker's tests, with a person who may do everything and one who may not."""

from __future__ import annotations

import pytest
from django.test import Client

from crewlet.kernel.actors import engine_actor
from crewlet.kernel.authority import Grant
from orgs.models.people import Person
from orgs.models.seats import Seat
from orgs.revisions import apply_document
from tests.support.people import a_person, browser, signed_in
from tests.tracker.company import COMPANY


@pytest.fixture
def company() -> None:
    """Applies the company."""
    apply_document(engine_actor("tests"), COMPANY, summary="The first company")


@pytest.fixture
def ana(company: None) -> Person:
    """Ana, with every grant and a seat."""
    return a_person(seat=Seat.objects.get(handle="ana"))


@pytest.fixture
def as_ana(ana: Person) -> Client:
    """A browser in which Ana is signed in."""
    return signed_in(browser(), ana)


@pytest.fixture
def as_guest(company: None) -> Client:
    """A browser of somebody who may only read the state."""
    return signed_in(browser(), a_person("gus.guest", grants=[Grant.STATE_READ]))
