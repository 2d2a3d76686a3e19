"""Signing in with the product's middleware over a handful of addresses."""

from __future__ import annotations

import pytest
from django.test import Client
from pytest_django.fixtures import Settings

from orgs.models.people import Person
from tests.support import people


@pytest.fixture(autouse=True)
def addresses(settings: Settings) -> None:
    settings.ROOT_URLCONF = "tests.orgs.people.urls"
    # Signing in comes before there is a company; the first run has tests of its own.
    settings.MIDDLEWARE = [name for name in settings.MIDDLEWARE if "orgs.setup" not in name]


@pytest.fixture
def browser() -> Client:
    """A client that says our own Origin, as a browser does."""
    return people.browser()


@pytest.fixture
def ana() -> Person:
    """An active person with every grant and a password."""
    return people.a_person()


@pytest.fixture
def as_ana(browser: Client, ana: Person) -> Client:
    """A browser in which Ana is signed in."""
    return people.signed_in(browser, ana)
