"""A list never gives everything at once."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.db import connection, models

from agents.models.mail import DeadLetter
from agents.models.turns import Turn
from crewlet.kernel import clock
from crewlet.kernel.events import EventType, publish
from crewlet.kernel.ids import new_id
from crewlet.kernel.models import AuditEntry, EngineEvent
from orgs.models.company import ConfigRevision
from orgs.models.notices import Notice
from orgs.models.people import Person
from orgs.notices import notify
from tests.api.conftest import Program
from tests.api.test_reads import a_turn
from tests.needs.routes import addresses, patterns
from tracker.models.comments import Comment
from tracker.models.items import WorkItem

pytestmark = pytest.mark.django_db

MOST, ROWS = 200, 230
ENTIRE = {
    "/api/v1/schema",
    "/api/v1/config/schema",
}
"""Documents, not lists."""


def multiply(one: models.Model, **unique: str) -> None:
    """Stores many copies of a row; `unique` gives what must differ, as SQL over the number `n`."""
    fields = [f for f in one._meta.concrete_fields if not f.generated]
    if not isinstance(one._meta.pk, models.UUIDField):
        fields = [f for f in fields if not f.primary_key]
    values = [
        "gen_random_uuid()" if f.primary_key else unique.get(f.name, f't."{f.column}"')
        for f in fields
    ]
    columns = [f'"{f.column}"' for f in fields]
    table, pk = one._meta.db_table, one._meta.pk.column
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table} ({', '.join(columns)}) "
            f"SELECT {', '.join(values)} FROM {table} AS t, generate_series(1, {ROWS}) AS n "
            f"WHERE t.{pk} = %s",
            (one.pk,),
        )


@pytest.fixture
def crowded(ana: Program) -> dict[str, list[str]]:
    """More of everything than a page may hold; gives what stands in the places of addresses."""
    key = ana.filed("Lamp", assignee="qa")
    assert ana.post(f"/work/{key}/comments", {"body": "Look."}).status_code == 201
    item = WorkItem.objects.get(key=key)
    comment = Comment.objects.get(item=item)
    turn = a_turn()
    publish(EventType.PROJECT_UPDATED, summary="Told", turn_id=turn.id, seat_id=turn.seat_id)
    me = Person.objects.get()
    assert me.seat is not None
    notify(me.seat.pk, "mention", reason="mention", title="Kim mentions you", body="Look.",
           ref=f"item:{key}", event_id=new_id())  # fmt: skip
    DeadLetter.objects.create(
        seat_id=turn.seat_id, event_id=new_id(), mail={}, attempts=25, error="x", at=clock.now()
    )
    multiply(item, key="'ENG-' || 9000 + n", number="9000 + n")
    multiply(comment)
    multiply(Turn.objects.get(id=turn.id), work_key="'work-' || n")
    multiply(EngineEvent.objects.filter(turn_id=turn.id).latest("ts"))
    multiply(AuditEntry.objects.latest("pk"))
    multiply(Notice.objects.get(), event_id="gen_random_uuid()")
    Person.objects.bulk_create(
        Person(login=f"p{n}.q", name=f"P {n}", created_at=clock.now()) for n in range(ROWS)
    )
    return {
        "handle": ["qa"], "turn_id": [str(turn.id)], "key": [key], "path": ["a.md"],
        "event_id": [str(EngineEvent.objects.latest("ts").id)], "name": ["my_work"],
        "revision_id": [str(ConfigRevision.objects.latest("created_at").pk)],
        "kind": ["roles"], "address": ["qa"], "trace_id": ["none"], "wait_id": [str(new_id())],
        "projects/<slug:key>": ["ENG"], "act/<str:name>": ["no_such_verb"],
    }  # fmt: skip


def lists(data: Any, place: str) -> Iterator[tuple[str, int]]:
    """Every list of an answer with its length."""
    if isinstance(data, dict):
        for key, value in data.items():
            yield from lists(value, f"{place}.{key}")
    elif isinstance(data, list):
        yield place, len(data)
        for value in data[:3]:
            yield from lists(value, f"{place}[]")


@pytest.mark.covers("PEER-50")
def test_no_list_of_the_api_gives_more_than_two_hundred_rows_unasked(
    ana: Program, crowded: dict[str, list[str]]
) -> None:
    """Every route that can be read, with more of everything than a page may hold."""
    assert Turn.objects.filter(started_at__gt=clock.now() - timedelta(days=1)).count() > ROWS
    found: dict[str, int] = {}
    for route in patterns():
        if not route.startswith("api/v1/"):
            continue
        for path in addresses(route, crowded):
            if path in ENTIRE:
                continue
            answer = ana.client.get(path, {"q": "Lamp"} if path.endswith("search") else {})
            if answer.status_code == 200 and "json" in answer["Content-Type"]:
                found |= dict(lists(answer.json(), path))
    too_long = {place: length for place, length in found.items() if length > MOST}
    assert too_long == {}
    full = [place for place, length in found.items() if length >= 20]
    assert len(full) > 5, f"the walk met no crowded list: {full}"
