"""Who is meant: exact first, then part, then near, and never a guess."""

from __future__ import annotations

import pytest

from crewlet.kernel.actors import engine_actor
from orgs import epochs, revisions
from orgs.epochs import Snapshot
from orgs.models.seats import Seat
from orgs.parties import find_party
from tests.orgs.companies import company

pytestmark = pytest.mark.django_db

PEOPLE = company(
    """
    roles:
      - name: Rita Founder
        handle: rita
        kind: human
        email: rita@harbour.example
        contact: {github_login: RitaCodes, slack_user_id: "${RITA}"}
      - {name: Head Baker, handle: baker-lead}
      - {name: Night Baker, handle: night}
      - {name: Night Watch, handle: watch}
    """
)


@pytest.fixture
def snapshot() -> Snapshot:
    revisions.apply_document(engine_actor("test"), PEOPLE, summary="People")
    return epochs.active()


@pytest.mark.covers("ORG-21", "TURN-74")
@pytest.mark.parametrize(
    "text",
    ["rita", "@rita", " RITA ", "Rita Founder", "rita founder", "ritacodes", "Rita@Harbour.example",
     "rita+news@harbour.example", "any+rita@elsewhere.example"],
)  # fmt: skip
def test_any_name_of_a_seat_finds_it(snapshot: Snapshot, text: str) -> None:
    match = find_party(snapshot, text)
    assert (match.status, match.how) == ("one", "exact")
    assert match.seat is not None and match.seat.handle == "rita"


@pytest.mark.covers("ORG-20")
@pytest.mark.parametrize(
    ("text", "handle"),
    [
        ("RITA+news@Harbour.Example", "rita"),
        ("rita+night@harbour.example", "night"),
        ("rita+nobody@harbour.example", "rita"),
        ("rita@elsewhere.example", None),
    ],
)
def test_a_plus_tag_that_names_a_seat_wins_over_whose_address_it_is(
    snapshot: Snapshot, text: str, handle: str | None
) -> None:
    match = find_party(snapshot, text)
    assert (match.seat.handle if match.seat else None) == handle


@pytest.mark.covers("ORG-21")
def test_an_id_finds_its_seat(snapshot: Snapshot) -> None:
    row = Seat.objects.get(handle="night")
    for ident in (row.id, row.agent_id):
        match = find_party(snapshot, str(ident))
        assert match.seat is not None and match.seat.handle == "night"
    assert find_party(snapshot, "00000000-0000-0000-0000-000000000000").status == "none"


@pytest.mark.covers("ORG-21", "TURN-74")
def test_a_part_that_several_share_lists_them_and_guesses_nothing(snapshot: Snapshot) -> None:
    match = find_party(snapshot, "night b")
    assert (match.status, match.how) == ("one", "partial")
    several = find_party(snapshot, "nigh")
    assert (several.status, several.how) == ("many", "partial")
    assert [seat.handle for seat in several.seats] == ["night", "watch"]
    assert several.seat is None


@pytest.mark.covers("TURN-74")
def test_a_misspelt_name_is_near_and_nonsense_is_nobody(snapshot: Snapshot) -> None:
    near = find_party(snapshot, "Haed Bakre")
    assert near.how == "near"
    assert "baker-lead" in [seat.handle for seat in near.seats]
    for text in ("", "@", "zzzzqqqq"):
        assert find_party(snapshot, text).status == "none"
    assert find_party(snapshot, "${RITA}").how != "exact"


@pytest.mark.covers("TURN-74")
def test_a_former_address_finds_todays_seat(snapshot: Snapshot) -> None:
    revisions.apply_document(
        engine_actor("test"), PEOPLE.replace("handle: watch", "handle: guard"), summary="Renamed"
    )
    match = find_party(epochs.active(), "watch")
    assert match.seat is not None
    assert match.seat.handle == "guard"
