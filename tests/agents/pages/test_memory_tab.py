"""The Memory tab: people read what a seat wrote down, no other seat does."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from django.test import Client

from agents.memory import diary
from agents.queries.diary import notes
from crewlet.kernel import clock
from crewlet.kernel.errors import Forbidden
from orgs import epochs
from orgs.models.seats import Seat
from orgs.people.actors import seat_actor
from tests.agents.pages.test_pages import html_of
from tests.api.conftest import Program
from tests.api.test_reads import a_turn, walked

pytestmark = pytest.mark.django_db


def wrote(text: str, *, handle: str = "qa", kind: str = "long", ago: int = 0, days: int = 0,
          turn: object = None) -> str:  # fmt: skip
    """A note of a seat, written some days ago."""
    at = clock.now() - timedelta(days=ago)
    seat_id = epochs.active().seat_ids[handle]
    note, _ = diary.write(seat_id, kind, text, at, turn_id=turn, days=days)  # type: ignore[arg-type]
    return str(note.id)


@pytest.mark.covers("UI-46")
def test_the_memory_tab_shows_living_notes_word_for_word_newest_first(founder: Client) -> None:
    turn = a_turn()
    old = wrote("The lamp <b>hums</b> at 50 Hz.", ago=3, turn=turn.pk)
    new = wrote("Ana reads mail at noon.", kind="short", days=7)
    wrote("Long gone.", kind="short", ago=30, days=2)
    wrote("Of another seat.", handle="packer")
    html = html_of(founder, "/agents/seats/qa?tab=memory")
    assert html.index(f"note-{new}") < html.index(f"note-{old}")
    assert "The lamp &lt;b&gt;hums&lt;/b&gt; at 50 Hz." in html
    assert f'href="/live/turns/{turn.pk}"' in html
    assert "Long gone." not in html
    assert "Of another seat." not in html
    assert "That is all of it, 2" in html
    assert "Nothing written down yet" in html_of(founder, "/agents/seats/agent-cto?tab=memory")


@pytest.mark.covers("UI-46", "UI-92")
def test_a_long_diary_is_read_page_by_page(ana: Program) -> None:
    wanted = [wrote(f"Note {n}", ago=n) for n in range(52)]
    found = walked(ana, "/agents/qa/memory", "notes", limit=20)
    assert [row["id"] for row in found] == wanted
    assert ana.get("/agents/qa/memory").json()["total"] == 52


@pytest.mark.covers("UI-46")
def test_the_memory_tab_leads_to_older_notes(founder: Client) -> None:
    wanted = [wrote(f"Note {n}", ago=n) for n in range(51)]
    first = html_of(founder, "/agents/seats/qa?tab=memory")
    assert first.count('<li id="note-') == 50
    older = re.search(r'href="([^"]+)">Older notes', first)
    assert older is not None
    last = html_of(founder, f"/agents/seats/qa{older[1].replace('&amp;', '&')}")
    assert re.findall(r'<li id="note-([^"]+)"', last) == wanted[50:]


def test_a_diary_is_refused_to_a_seat_and_to_an_unknown_address(ana: Program) -> None:
    wrote("Mine alone.")
    seat = Seat.objects.get(handle="packer")
    assert notes(seat_actor(Seat.objects.get(handle="qa")), "qa")["total"] == 1, "its own"
    with pytest.raises(Forbidden):
        notes(seat_actor(seat), "qa")
    answer = ana.get("/agents/packr/memory")
    assert answer.status_code == 404
    assert "Did you mean packer?" in answer.json()["message"]
    assert ana.get("/agents/qa/memory", colour="red").status_code == 400
