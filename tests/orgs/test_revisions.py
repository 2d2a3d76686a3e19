"""Applying a document: one path, one transaction, one epoch, rows that keep their identity."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from crewlet.kernel.actors import Actor, engine_actor
from crewlet.kernel.errors import Conflict, CrewletError, ErrorCode, NotFound, Unavailable
from crewlet.kernel.models import EngineEvent
from orgs import epochs, revisions
from orgs.document.identity import agent_id
from orgs.document.secrets import MASK
from orgs.models.company import Activation, Company, ConfigRevision
from orgs.models.seats import Seat, Unit
from tests.orgs.companies import TWO_TEAMS, company, without

pytestmark = pytest.mark.django_db


@pytest.fixture
def operator() -> Actor:
    return engine_actor("test")


def apply(actor: Actor, text: str, summary: str = "A change", **more: object) -> revisions.Applied:
    return revisions.apply_document(actor, text, summary=summary, **more)  # type: ignore[arg-type]


def stored(applied: revisions.Applied) -> ConfigRevision:
    assert applied.revision_id is not None
    return ConfigRevision.objects.get(id=applied.revision_id)


def seat(handle: str) -> Seat:
    return Seat.objects.get(handle=handle, removed_at=None)


def test_without_a_company_nothing_runs_and_the_remedy_is_named() -> None:
    assert epochs.current() is None
    with pytest.raises(Unavailable, match="company import") as caught:
        epochs.active()
    assert caught.value.code is ErrorCode.UNCONFIGURED
    with pytest.raises(NotFound) as missing:
        epochs.active_revision()
    assert missing.value.code is ErrorCode.NO_ACTIVE_REVISION


@pytest.mark.covers("ORG-40", "ORG-50")
def test_the_first_apply_makes_the_company_with_its_rows(operator: Actor) -> None:
    applied = apply(operator, TWO_TEAMS, "Founding")
    snapshot = epochs.active()
    assert snapshot.epoch == applied.epoch == epochs.current()
    assert snapshot.revision_id == applied.revision_id
    assert str(snapshot.timezone) == "Europe/Lisbon"
    assert set(snapshot.seat_ids) == {
        "rita", "chief", "baker-lead", "baker", "night-baker", "shop-lead", "seller",
    }  # fmt: skip
    night = seat("night-baker")
    assert snapshot.handles[night.id] == "night-baker"
    assert night.unit is not None and night.unit.parent is not None
    assert night.unit.effective_lead == seat("baker-lead")
    assert night.unit.lead_handle == ""
    assert night.unit.channel == "ovens"
    assert night.primary_manager == seat("baker-lead")
    assert seat("rita").agent_id is None
    assert seat("rita").email_norm == "rita@harbour.example"
    assert seat("baker").agent_id == agent_id("Harbour Bakery", "baker")
    revision = ConfigRevision.objects.get()
    assert (revision.summary, revision.author, revision.parent) == (
        "Founding",
        operator.author,
        None,
    )
    assert Company.objects.get().origin_name == "Harbour Bakery"


def test_providers_keep_the_order_in_which_they_were_written(operator: Actor) -> None:
    apply(operator, TWO_TEAMS)
    epochs.forget()
    assert list(epochs.active().document.providers.llm) == ["zeta", "alpha"]


def test_a_faulty_document_changes_nothing_and_names_every_fault(operator: Actor) -> None:
    apply(operator, TWO_TEAMS)
    before = (epochs.current(), ConfigRevision.objects.count())
    with pytest.raises(CrewletError) as caught:
        apply(operator, company("timezone: Local\ncolour: red\n"))
    assert caught.value.code is ErrorCode.VALIDATION_ERROR
    paths = {problem["path"] for problem in caught.value.detail["problems"]}
    assert paths == {"timezone", "colour"}
    assert (epochs.current(), ConfigRevision.objects.count()) == before


@pytest.mark.covers("ORG-40")
def test_an_apply_without_a_reason_is_refused(operator: Actor) -> None:
    with pytest.raises(CrewletError) as caught:
        apply(operator, TWO_TEAMS, "  ")
    assert caught.value.code is ErrorCode.SUMMARY_REQUIRED
    assert not Activation.objects.exists()


@pytest.mark.covers("ORG-50")
def test_the_same_document_again_is_a_new_epoch(operator: Actor) -> None:
    first = apply(operator, TWO_TEAMS)
    second = apply(operator, TWO_TEAMS)
    assert second.epoch is not None and first.epoch is not None
    assert second.epoch > first.epoch
    assert stored(second).parent_id == first.revision_id


def test_a_dry_run_answers_and_leaves_nothing(operator: Actor) -> None:
    applied = apply(operator, TWO_TEAMS, dry_run=True)
    assert (applied.revision_id, applied.epoch) == (None, None)
    assert "baker" in applied.added
    assert not ConfigRevision.objects.exists()
    assert not Seat.objects.exists()
    assert not EngineEvent.objects.exists()


@pytest.mark.covers("ORG-51")
def test_who_saves_second_is_kept_but_not_live(operator: Actor) -> None:
    first = apply(operator, TWO_TEAMS)
    theirs = apply(operator, TWO_TEAMS, "Theirs", base=first.revision_id)
    mine = apply(operator, without(TWO_TEAMS, "Seller"), "Mine", base=first.revision_id)
    assert mine.epoch is None
    assert mine.advanced_to == theirs.revision_id
    kept = stored(mine)
    assert (kept.summary, kept.parent_id) == ("Mine", first.revision_id)
    assert epochs.active().revision_id == theirs.revision_id
    assert seat("seller").removed_at is None


@pytest.mark.covers("ORG-1")
def test_a_base_without_a_company_and_a_second_creation_are_refused(operator: Actor) -> None:
    """One install, one company."""
    with pytest.raises(CrewletError) as early:
        apply(operator, TWO_TEAMS, base=uuid4())
    assert early.value.code is ErrorCode.PRECONDITION_FAILED
    apply(operator, TWO_TEAMS, create_only=True)
    with pytest.raises(CrewletError) as late:
        apply(operator, TWO_TEAMS, create_only=True)
    assert late.value.code is ErrorCode.PRECONDITION_FAILED
    assert Activation.objects.count() == 1


@pytest.mark.covers("ORG-18")
def test_a_seat_that_leaves_and_returns_is_the_same_row(operator: Actor) -> None:
    apply(operator, TWO_TEAMS)
    before = seat("seller")
    gone = apply(operator, without(TWO_TEAMS, "Seller"))
    assert gone.removed == ("seller",)
    row = Seat.objects.get(handle="seller")
    assert row.removed_at is not None
    assert row.mailbox_retire_at == row.removed_at + timedelta(hours=24)
    back = apply(operator, TWO_TEAMS)
    again = seat("seller")
    assert (again.id, again.agent_id) == (before.id, before.agent_id)
    assert again.mailbox_retire_at is None
    assert back.renamed == ()
    assert [(c.code, c.seat) for c in back.warnings] == [("seat_returned", "seller")]
    assert Seat.objects.filter(handle="seller").count() == 1


def test_a_corrected_name_in_a_file_without_handles_keeps_the_seat(operator: Actor) -> None:
    text = company(
        """
        units:
          - name: Core
            roles:
              - {name: Enginer, goal: Build it and prove that it holds}
              - {name: Writer, goal: Explain it}
        """
    )
    apply(operator, text)
    before = seat("enginer")
    applied = apply(operator, text.replace("Enginer", "Engineer"))
    assert applied.renamed == (("enginer", "engineer"),)
    assert "seat_renamed" in [caution.code for caution in applied.warnings]
    after = seat("engineer")
    assert (after.id, after.origin_handle, after.agent_id) == (
        before.id,
        "enginer",
        before.agent_id,
    )
    assert epochs.active().former == {"enginer": "engineer"}


def test_a_new_seat_under_a_left_address_is_somebody_else(operator: Actor) -> None:
    text = company("roles:\n  - {name: Ann, handle: one, goal: Calls}\n")
    apply(operator, text)
    apply(operator, text.replace("handle: one", "handle: two"))
    old = seat("two")
    assert old.origin_handle == "one"
    apply(operator, text.replace("handle: one", "handle: two") + "  - {name: Bob, handle: one}\n")
    new = seat("one")
    assert new.id != old.id
    assert new.agent_id not in (None, old.agent_id)


def test_another_seat_in_its_place_is_not_taken_for_the_old_one(operator: Actor) -> None:
    text = company("roles:\n  - {name: Ann, handle: ann, goal: Sells}\n")
    apply(operator, text)
    before = seat("ann")
    applied = apply(operator, company("roles:\n  - {name: Bob, handle: bob, goal: Buys}\n"))
    assert applied.renamed == ()
    assert seat("bob").id != before.id


def test_a_renamed_unit_keeps_its_row(operator: Actor) -> None:
    apply(operator, TWO_TEAMS)
    before = Unit.objects.get(key="night")
    apply(operator, TWO_TEAMS.replace("name: Night Shift", "name: Early Shift"))
    assert Unit.objects.get(key="night", removed_at=None).id == before.id
    apply(operator, TWO_TEAMS)
    apply(operator, TWO_TEAMS.replace("id: night", "id: dawn"))
    moved = Unit.objects.get(key="dawn", removed_at=None)
    assert (moved.id, moved.origin_key) == (before.id, "night")


def test_moving_a_seat_changes_where_it_stands_and_relabelling_does_not(operator: Actor) -> None:
    apply(operator, TWO_TEAMS)
    standing = seat("seller").chain_hash
    apply(operator, TWO_TEAMS.replace("name: Shop\n", "name: The Shop\n"))
    assert seat("seller").chain_hash == standing
    moved = without(TWO_TEAMS, "Seller").replace(
        "  - name: Chief\n", "  - {name: Seller, handle: seller}\n  - name: Chief\n"
    )
    apply(operator, moved)
    assert seat("seller").chain_hash != standing
    assert seat("seller").declared_at_root


@pytest.mark.covers("ORG-52")
def test_a_pinned_epoch_stays_as_it_was(operator: Actor) -> None:
    first = apply(operator, TWO_TEAMS)
    seller = seat("seller").id
    apply(operator, without(TWO_TEAMS, "Seller"))
    epochs.forget()
    assert first.epoch is not None
    pinned = epochs.snapshot(first.epoch)
    assert pinned.seat_ids["seller"] == seller
    assert "seller" not in epochs.active().seat_ids
    with pytest.raises(NotFound):
        epochs.snapshot(10**9)


@pytest.mark.covers("ORG-50")
def test_reloading_publishes_the_same_revision_as_a_new_epoch(operator: Actor) -> None:
    first = apply(operator, TWO_TEAMS)
    assert first.revision_id is not None
    again = revisions.activate_revision(operator, first.revision_id)
    assert again.revision_id == first.revision_id
    assert again.epoch is not None and first.epoch is not None and again.epoch > first.epoch
    assert ConfigRevision.objects.count() == 1
    assert Activation.objects.latest("id").reason == "reload"


@pytest.mark.covers("ORG-40")
def test_going_back_is_a_new_revision_on_top(operator: Actor) -> None:
    first = apply(operator, TWO_TEAMS, "With a seller")
    second = apply(operator, without(TWO_TEAMS, "Seller"))
    assert first.revision_id is not None
    back = revisions.activate_revision(operator, first.revision_id)
    top = stored(back)
    assert top.parent_id == second.revision_id
    assert (top.source, top.summary) == ("revert", "Back to: With a seller")
    assert seat("seller").removed_at is None
    with pytest.raises(NotFound):
        revisions.activate_revision(operator, UUID(int=0))


@pytest.mark.covers("ORG-7")
def test_addresses_are_written_out_when_stored(operator: Actor) -> None:
    apply(
        operator,
        company(
            """
            units:
              - name: Core Team
                lead: Tech Lead
                roles:
                  - {name: Tech Lead}
                  - {name: Helper}
            """
        ),
    )
    unit = epochs.active_revision().payload["units"][0]
    assert (unit["id"], unit["lead"]) == ("core-team", "tech-lead")
    assert [role["handle"] for role in unit["roles"]] == ["tech-lead", "helper"]


def test_a_mask_sent_back_brings_the_key_back(operator: Actor) -> None:
    text = company(
        "providers: {llm: {main: {type: openai, model: m, api_keys: [first-key, second-key]}}}\n"
    )
    apply(operator, text)
    apply(operator, text.replace("first-key", MASK).replace("name: Testing", "name: Renamed"))
    payload = epochs.active_revision().payload
    assert payload["providers"]["llm"]["main"]["api_keys"] == ["first-key", "second-key"]
    with pytest.raises(CrewletError) as caught:
        apply(operator, text.replace("first-key, second-key", MASK))
    assert caught.value.detail["field"] == "providers.llm.main.api_keys[0]"


@pytest.mark.covers("ORG-16")
def test_an_apply_tells_the_company_and_each_reference_that_names_nobody(operator: Actor) -> None:
    apply(operator, company("roles:\n  - {name: Ann, manages: [ghost]}\n"))
    told = {event.type: event for event in EngineEvent.objects.all()}
    assert set(told) == {"config_revision_activated", "org_dangling_reference"}
    assert told["config_revision_activated"].topics == ["agents", "org"]
    assert "ghost" not in told["org_dangling_reference"].summary


def test_a_seat_that_somebody_holds_is_not_removed_over_their_head(operator: Actor) -> None:
    from orgs.people.founder import ensure_founder

    apply(operator, TWO_TEAMS)
    person = ensure_founder()
    assert person is not None
    with pytest.raises(Conflict) as caught:
        apply(operator, company("roles:\n  - {name: Chief, handle: chief}\n"))
    assert caught.value.detail["holder"] == person.login
    with pytest.raises(Conflict):
        apply(operator, TWO_TEAMS.replace("    kind: human\n", ""))
    assert seat("rita").kind == "human"


@pytest.mark.covers("ORG-16")
def test_a_reference_to_nobody_is_told_once_where_it_is_written_in_each_epoch(
    operator: Actor,
) -> None:
    """Not once per unit that inherits it, and again when the company is applied again."""
    text = company(
        """
        units:
          - name: Top
            lead: ghost
            children: [{name: A, roles: [{name: x}]}, {name: B, roles: [{name: y}]}]
        """
    )
    applied = apply(operator, text)
    assert [c.path for c in applied.warnings if c.code == "dangling_reference"] == ["units[0].lead"]
    told = EngineEvent.objects.filter(type="org_dangling_reference")
    assert told.count() == 1
    chart = epochs.active().chart
    assert chart.effective_lead("a") is None, "it is as if no lead were written"
    apply(operator, text)
    assert told.count() == 2
