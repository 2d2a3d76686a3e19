"""The order in which mail is screened, and what the company says about how letters gather."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from uuid import UUID

import pytest
from django.db import DatabaseError, connection, transaction

from agents.budgets import windows
from agents.dispatch import park, screening
from agents.dispatch.screening import Clear, Reason, Refused
from agents.mail import triggers
from agents.mail.triggers import TriggerKind
from agents.models.budgets import BudgetWindow
from agents.models.mail import Completion, Delivery
from agents.models.seats import HoldReason
from agents.models.turns import Turn
from agents.seats import holds, presence
from agents.seats.host import SeatHost
from crewlet.kernel import clock, drain
from crewlet.kernel.errors import Unavailable
from crewlet.kernel.ids import new_id
from orgs import epochs
from tests.agents.play import PlayedTurns, a_company, a_letter, an_open_turn, post_now, texts_of

pytestmark = pytest.mark.django_db(transaction=True)

MakeHost = Callable[..., SeatHost]


def spent(tokens: int) -> None:
    """Counts tokens in today's company window."""
    day = windows.windows_at(clock.now(), epochs.active().timezone)[0]
    BudgetWindow.objects.create(
        scope=windows.COMPANY, kind=day.kind.value, starts_on=day.starts_on, ends_at=day.ends_at,
        used=tokens, tz="UTC",
    )  # fmt: skip


def by_hand(host: SeatHost) -> None:
    """Lets a host hold its seats while the test alone looks at them."""
    presence.register(host.incarnation, "one", roles=frozenset({"seats"}), capacity=1, ttl=60)
    host.renew_once()
    host.runner.gate._limit = 0  # type: ignore[union-attr]
    host._share()


@pytest.mark.covers("TURN-2")
def test_everything_that_could_stand_against_a_turn_is_asked_in_one_order(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All obstacles stand from the start; each look names the first that is left."""
    kofi = a_company("kofi", token_budget={"day": 1000})["kofi"]
    spent(2000)
    worked, told, wanted = a_letter("worked", n=1), a_letter("told", n=2, kind="fyi"), a_letter(n=3)
    quiet = TriggerKind("fyi", "For your information", lambda _: ("none", ""), str, wakes=False)
    monkeypatch.setitem(triggers.TRIGGERS._entries, "fyi", quiet)
    post_now(kofi, worked, told, wanted)
    Completion.objects.create(
        seat_id=kofi, event_id=worked.event_id, turn_id=new_id(), outcome="completed",
        at=clock.now(),
    )  # fmt: skip
    with connection.cursor() as cursor:
        parked = an_open_turn(
            cursor, kofi, [], stage="parked", park_reason="provider",
            wake_at=clock.now() + timedelta(hours=1),
        )  # fmt: skip
    with transaction.atomic():
        holds.put(kofi, HoldReason.SEAT_PAUSED, by="ana", now=clock.now())
    turns = PlayedTurns()
    host = make_host(turns)
    drain.raise_mark("up")

    def refusal() -> Reason | None:
        verdict = screening.screen(host, kofi, clock.now())
        return verdict.reason if isinstance(verdict, Refused) else None

    seen = [refusal()]
    drain.lower()
    seen.append(refusal())
    by_hand(host)
    host._renewed_at = clock.monotonic() - host.settings.heartbeat
    seen.append(refusal())
    host.renew_once()
    with monkeypatch.context() as patched:
        patched.setattr(epochs, "active", _unconfigured)
        seen.append(refusal())
    seen.append(refusal())
    with transaction.atomic():
        holds.lift(kofi, HoldReason.SEAT_PAUSED)
    seen.append(refusal())
    a_company("kofi", token_budget={"day": 9000})
    park.release_budget_holds([kofi], epochs.active(), clock.now())
    Turn.objects.filter(id=parked).update(epoch=epochs.active().epoch)
    seen.append(refusal())
    assert seen == [
        Reason.DRAINING, Reason.NO_LEASE, Reason.STALE_LEASE, Reason.UNCONFIGURED,
        Reason.SEAT_PAUSED, Reason.BUDGET_WINDOW, Reason.PARKED,
    ]  # fmt: skip
    assert turns.ran == []
    assert Delivery.objects.filter(attempts=0, turn=None).count() == 3, "a refusal costs nothing"

    Turn.objects.filter(id=parked).update(stage="done")
    assert isinstance(screening.screen(host, kofi, clock.now()), Clear)
    host.runner.gate._work(kofi)  # type: ignore[union-attr]
    ran = Turn.objects.exclude(id=parked).get()
    assert texts_of(ran) == ["Please look"], "worked before and informational are dropped at last"


def _unconfigured() -> None:
    raise Unavailable("No company is applied.")


@pytest.mark.covers("TURN-82")
def test_a_budget_that_cannot_be_read_parks_nothing(
    make_host: MakeHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The check before a turn fails open; the meter inside it fails closed."""
    kofi = a_company("kofi", token_budget={"day": 1000})["kofi"]
    host = make_host(PlayedTurns())
    by_hand(host)

    def unreadable(*_: object) -> None:
        raise DatabaseError("the table is away")

    monkeypatch.setattr(windows, "refusal", unreadable)
    assert isinstance(screening.screen(host, kofi, clock.now()), Clear)


@pytest.mark.covers("RUN-5", "TURN-4")
def test_the_company_says_how_long_letters_gather_and_how_many_make_a_turn(
    make_host: MakeHost,
) -> None:
    """The two knobs of the document, read at each look."""
    kofi: UUID = a_company("kofi", notification_coalesce_window_seconds=60)["kofi"]
    turns = PlayedTurns()
    host = make_host(turns)
    by_hand(host)
    post_now(kofi, *(a_letter(f"m{n}", n=n) for n in range(3)))
    look = host.runner.gate._work  # type: ignore[union-attr]
    look(kofi)
    assert turns.ran == []
    soon = host.runner.sweep([kofi])  # type: ignore[union-attr]
    assert soon is not None and 50 < soon <= 60
    a_company("kofi", notification_coalesce_max_batch=2)
    look(kofi)
    look(kofi)
    told = [texts_of(Turn.objects.get(id=turn_id)) for turn_id, _ in turns.ran]
    assert told == [["m0", "m1"], ["m2"]]
