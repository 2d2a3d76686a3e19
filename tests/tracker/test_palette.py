"""Items in the palette, and what it does with the item that is open."""

from __future__ import annotations

import json
import re
from html import unescape

import pytest
from django.test import Client

from orgs.models.seats import Seat
from tests.support.people import ORIGIN, a_person, signed_in
from tests.tracker.company import comment, create
from tests.tracker.conftest import Cast
from tracker.models.comments import Comment
from tracker.models.items import WorkItem


@pytest.fixture
def ana(cast: Cast) -> Client:
    person = a_person("ana.silva", seat=Seat.objects.get(handle="ana"))
    return signed_in(Client(headers={"origin": ORIGIN}), person)


def asked(client: Client, **query: str) -> str:
    answer = client.get("/ui/palette", query)
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def row(html: str, press: str) -> str:
    """Returns the row that a press takes."""
    (found,) = [part for part in html.split("<li ") if f'data-press="{press}"' in part]
    return found


def fields(drawn: str) -> dict[str, str]:
    """Returns what a row would send."""
    found = re.search(r'data-fields="(\[.*?\])"', drawn)
    assert found
    return dict(json.loads(found[1]))


def send(client: Client, drawn: str, op_id: str) -> int:
    verb = drawn.partition('data-verb="')[2].partition('"')[0]
    return client.post(f"/act/{verb}", fields(drawn) | {"op_id": op_id}).status_code


@pytest.mark.covers("TRK-23", "UI-13")
def test_items_are_searched_in_their_text_and_the_mode_served_is_said(
    cast: Cast, ana: Client
) -> None:
    """Words anywhere in an item, and letters of a title while they are typed."""
    lamp = create(cast.ana, "Dim it", project="ENG", body="The beacon flickers at dusk.")
    comment(cast.ana, lamp, "Seen by the harbourmaster too.")
    for words in ("beacon", "harbourmaster", "Dim"):
        html = asked(ana, q=f"#{words}")
        assert f'data-href="/work/{lamp.key}"' in html, words
        assert 'title="How this was looked for">keyword</span>' in html, words
    assert f'data-href="/work/{lamp.key}"' in asked(ana, q="#Di")
    assert "keyword" not in asked(ana, q="#submarine")
    assert "Nothing matches" in asked(ana, q="#submarine")


@pytest.mark.covers("UI-15")
def test_an_item_is_assigned_when_exactly_one_agent_matches(cast: Cast, ana: Client) -> None:
    """The row is always drawn, with the reason where it cannot act."""
    lamp = create(cast.ana, "Lamp", project="ENG")
    assert "Open an item" in row(asked(ana, q="agent-swe"), "alt+a")
    assert "exactly one agent" in row(asked(ana, q="agent", ref=f"item:{lamp.key}"), "alt+a")
    assert "exactly one agent" in row(asked(ana, q=">", ref=f"item:{lamp.key}"), "alt+a")
    ready = row(asked(ana, q="agent-swe", ref=f"item:{lamp.key}"), "alt+a")
    assert 'aria-disabled="true"' not in ready
    assert send(ana, ready, "assign-1") == 303
    assert WorkItem.objects.get(pk=lamp.pk).assignee == Seat.objects.get(handle="agent-swe")


@pytest.mark.covers("UI-15")
def test_an_agent_is_asked_about_the_open_item(cast: Cast, ana: Client) -> None:
    lamp = create(cast.ana, "Lamp", project="ENG")
    ref = f"item:{lamp.key}"
    assert "then the question" in row(asked(ana, q="agent-swe", ref=ref), "mod+Enter")
    assert "then the question" in row(asked(ana, q="nobody how far is it", ref=ref), "mod+Enter")
    ready = row(asked(ana, q="agent-swe how far is it?", ref=ref), "mod+Enter")
    assert send(ana, ready, "ask-1") == 303
    found = Comment.objects.get(item=lamp, asked__handle="agent-swe")
    assert found.body == "how far is it?"


@pytest.mark.covers("UI-15")
def test_an_item_is_created_in_the_project_that_is_open(cast: Cast, ana: Client) -> None:
    """Once however often it is taken, while nobody knows whether it landed."""
    assert "Type its title first" in row(asked(ana, q=">", ref="project:OPS"), "alt+c")
    ready = row(asked(ana, q="Buy <glass> & lead", ref="project:OPS"), "alt+c")
    for _ in range(2):
        assert send(ana, ready, "create-1") == 303
    (made,) = WorkItem.objects.filter(title="Buy <glass> & lead")
    assert made.project.key == "OPS"
    beside = row(asked(ana, q="Order a spare", ref=f"item:{made.key}"), "alt+c")
    assert fields(beside)["project"] == "OPS"
    assert "project" not in fields(row(asked(ana, q="Order a spare", ref="<b>"), "alt+c"))


@pytest.mark.covers("UI-15", "UI-25")
def test_who_may_not_write_sees_why(cast: Cast) -> None:
    reader = signed_in(Client(headers={"origin": ORIGIN}), a_person("kim.cho", grants=()))
    lamp = create(cast.ana, "Lamp", project="ENG")
    html = asked(reader, q="agent-swe", ref=f"item:{lamp.key}")
    for press in ("alt+a", "mod+Enter", "alt+c"):
        drawn = row(html, press)
        assert 'aria-disabled="true"' in drawn
        assert "It needs the grant" in drawn
