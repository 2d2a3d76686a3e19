"""A founder at the pages and at REST, with the test company."""

from __future__ import annotations

import pytest
from django.test import Client

from orgs.models.seats import Seat
from tests.api.conftest import ana, company
from tests.support.people import a_person, signed_in

__all__ = ["ana", "company"]


@pytest.fixture
def founder(company: None) -> Client:
    """A browser's client, signed in as the founder."""
    person = a_person("ana.ruiz", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(), person)
