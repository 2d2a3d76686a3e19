"""A program's way to REST: somebody's token, a company, and requests as programs send them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from crewlet.kernel import clock, drain
from crewlet.kernel.actors import engine_actor
from crewlet.kernel.authority import ALL_GRANTS, Grant
from crewlet.kernel.ids import new_id
from crewlet.ops import health
from orgs import epochs
from orgs.models.people import Credential, CredentialKind, Person
from orgs.models.seats import Seat
from orgs.people.codes import digest_of, new_token
from orgs.revisions import apply_document
from tests.support.people import a_person
from tests.tracker.company import COMPANY


class Program:
    """REST as one person's token may use it."""

    def __init__(self, person: Person | None, *grants: Grant) -> None:
        value = new_token()
        Credential.objects.create(
            kind=CredentialKind.TOKEN, label=f"t{new_id().hex}", person=person,
            digest=digest_of(value), created_by="tests", created_at=clock.now(),
            grants=[grant.value for grant in grants or ALL_GRANTS],
            expires_at=clock.now() + timedelta(days=1),
        )  # fmt: skip
        self.client = Client(headers={"authorization": f"Bearer {value}"})

    def get(self, path: str, **query: Any) -> Any:
        """Reads below /api/v1."""
        return self.client.get(f"/api/v1{path}", query)

    def send(self, method: str, path: str, body: Any, key: str = "", **headers: str) -> Any:
        """Writes below /api/v1 with an operation id, a new one unless given."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.client.generic(
            method, f"/api/v1{path}", json.dumps(body), content_type="application/json",
            headers={"idempotency-key": key or str(new_id()), **named},
        )  # fmt: skip

    def post(self, path: str, body: Any, key: str = "", **headers: str) -> Any:
        """Posts."""
        return self.send("POST", path, body, key, **headers)

    def filed(self, title: str = "Lamp", **more: Any) -> str:
        """Files an item of ENG and returns its key."""
        answer = self.post("/work", {"title": title, "project": "ENG", **more})
        assert answer.status_code == 201, answer.content
        return str(answer.json()["result"]["key"])


def refusal(answer: Any, status: int, code: str) -> dict[str, Any]:
    """Asserts the one shape of a refusal and returns its detail."""
    body = json.loads(answer.content)
    assert (answer.status_code, body["error"]) == (status, code), body
    assert set(body) == {"error", "message", "detail", "request_id"}
    assert body["request_id"] == answer["X-Request-ID"]
    assert body["message"]
    detail: dict[str, Any] = body["detail"]
    return detail


@pytest.fixture
def company(db: None) -> Iterator[None]:
    """The test company, applied."""
    epochs.forget()
    drain.lower()
    apply_document(engine_actor("tests"), COMPANY, summary="for the tests")
    yield
    epochs.forget()
    drain.lower()
    health._last = health._Last()


@pytest.fixture
def ana(company: None) -> Program:
    """A program of the founder, with everything that a token may have."""
    return Program(a_person("ana.silva", seat=Seat.objects.get(handle="ana")))
