"""The inbox leaves by e-mail: what waits on a person, and news that counts if they want it.

A duty notes new rows of each reader's inbox once (one row for a person and a reference), claims
what is due and sends it outside any transaction. A claim is a lease: `due_at` of a message that is
being sent is when another worker may take it over. So a worker killed after the mail server took
the message and before that was noted makes it leave again, under the same Message-ID: late and
twice is better than never for somebody whom an agent waits for.
"""

from __future__ import annotations

import logging
import smtplib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from urllib.parse import urlencode, urlsplit

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from prometheus_client import Counter

from crewlet.kernel import clock, db
from crewlet.kernel.redact import clean
from orgs import inbox
from orgs.models.outbound import EmailChoice, EmailLevel, OutboundMail, OutboundState
from orgs.models.people import Person, PersonStage
from orgs.notices import REASONS
from orgs.people.actors import session_actor
from orgs.queries.outbound import address_of, company_name, configured

log = logging.getLogger(__name__)

MAILS = Counter("crewlet_outbound_mail_total", "Mail to people by what became of it.", ["fate"])
ATTEMPTS: Final = 8
"""After the eighth failure, an hour in all, a message is given up."""
FRESH: Final = timedelta(hours=24)
"""Older rows of an inbox do not leave: a mail server that is new here does not flood anybody."""
KEPT: Final = timedelta(days=30)
LEASE: Final = timedelta(minutes=2)
_FIRST_PAUSE: Final = timedelta(seconds=30)
_TICK_SECONDS: Final = 20.0
"""The company's other duties wait meanwhile; what is left over leaves at the next tick."""
_MOST_NOTICES: Final = 50
_FAILURES = (OSError, smtplib.SMTPException, ValueError)
"""What sending raises: no server, its refusal, an address or a header that cannot be written."""


@dataclass(frozen=True, slots=True)
class Letter:
    """What one message says."""

    address: str
    title: str
    summary: str
    reason: str
    url: str
    level: str


Letters = dict[tuple[str, str], Letter]


def run(now: datetime) -> int:
    """Notes what is new in the inboxes and sends what is due; returns how many messages left."""
    if not configured():
        return 0
    letters = _letters(now)
    _note(letters, now)
    sent, until = 0, clock.monotonic() + _TICK_SECONDS
    server: BaseEmailBackend | None = None
    try:
        while clock.monotonic() < until and (mail := _claim()) is not None:
            letter = letters.get((str(mail.person_id), mail.ref))
            if letter is None:
                _settle(mail, OutboundState.MOOT)
                continue
            db.release()
            try:
                server = server or _open()
            except _FAILURES as problem:
                _failed(mail, problem)
                _put_off()
                break
            sent += _send(server, mail, letter)
    finally:
        if server is not None:
            server.close()
    OutboundMail.objects.filter(ended_at__lt=now - KEPT).delete()
    return sent


def _letters(now: datetime) -> Letters:
    """Returns what every reader's inbox says now, by person and reference."""
    people = Person.objects.filter(stage=PersonStage.ACTIVE).select_related("seat", "email_choice")
    found: Letters = {}
    for person in people:
        choice = getattr(person, "email_choice", None)
        level = choice.level if choice else EmailLevel.DECISIONS
        address = address_of(person)
        if address and level != EmailLevel.OFF:
            after = max(now - FRESH, choice.since if choice else now - FRESH)
            for ref, letter in _of(person, address, str(level), after, now):
                found[str(person.id), ref] = letter
    return found


def _of(
    person: Person, address: str, level: str, after: datetime, now: datetime
) -> Iterator[tuple[str, Letter]]:
    actor = session_actor(person)
    for row in inbox.waiting_rows(actor, now):
        if row.at > after:
            opens = f"/inbox?{urlencode({'open': row.ref})}"
            yield row.ref, Letter(address, row.title, row.summary, row.reason, opens, level)
    if level != EmailLevel.ALL:
        return
    # An ask has its own row above, which says more.
    news = inbox.unread(actor, now).filter(primary=True, at__gt=after).exclude(reason="asked")
    for notice in news[:_MOST_NOTICES]:
        opens = f"/inbox?{urlencode({'open': notice.id})}"
        reason = REASONS.get(notice.reason, "")
        yield f"notice:{notice.id}", Letter(address, notice.title, "", reason, opens, level)


def _note(letters: Letters, now: datetime) -> None:
    if letters:
        OutboundMail.objects.bulk_create(
            [
                OutboundMail(person_id=person, ref=ref, due_at=now, created_at=now)
                for person, ref in letters
            ],
            ignore_conflicts=True,
        )


def _claim() -> OutboundMail | None:
    """Takes the message that is due longest, for as long as the lease; None when none is due."""
    now = clock.now()
    with transaction.atomic():
        due = OutboundMail.objects.filter(
            state__in=(OutboundState.WAITING, OutboundState.SENDING), due_at__lte=now
        )
        mail = due.order_by("due_at", "id").select_for_update(skip_locked=True).first()
        if mail is not None:
            mail.state, mail.due_at = OutboundState.SENDING, now + LEASE
            mail.attempts += 1
            mail.save(update_fields=["state", "due_at", "attempts"])
    return mail


def _open() -> BaseEmailBackend:
    server = get_connection()
    server.open()
    return server


def _send(server: BaseEmailBackend, mail: OutboundMail, letter: Letter) -> bool:
    try:
        server.send_messages([_message(mail, letter)])
    except _FAILURES as problem:
        _failed(mail, problem)
        return False
    _settle(mail, OutboundState.SENT)
    return True


def _message(mail: OutboundMail, letter: Letter) -> EmailMessage:
    # One line each: a header that breaks is another header.
    title, summary = (" ".join(clean(text).split()) for text in (letter.title, letter.summary))
    body = "\n\n".join(
        part
        for part in (
            title,
            summary,
            f"{letter.reason}." if letter.reason else "",
            f"Open it: {settings.CREWLET.public_url}{letter.url}",
            f'You asked for "{EmailLevel(letter.level).label}". Another choice: '
            f"{settings.CREWLET.public_url}/settings/preferences",
        )
        if part
    )
    host = urlsplit(settings.CREWLET.public_url).hostname or "localhost"
    headers = {"Message-ID": f"<{mail.id}@{host}>", "Auto-Submitted": "auto-generated"}
    subject = f"[{company_name()}] {title}"[:200]
    return EmailMessage(subject, body, to=[letter.address], headers=headers)


def _settle(mail: OutboundMail, state: OutboundState, error: str = "") -> None:
    MAILS.labels(state.value).inc()
    _if_still_ours(mail, state=state, error=error, ended_at=clock.now())


def _failed(mail: OutboundMail, problem: Exception) -> None:
    error = clean(f"{type(problem).__name__}: {problem}")[:300]
    log.warning("outbound_mail_failed", extra={"mail": str(mail.id), "error": error})
    if mail.attempts >= ATTEMPTS:
        _settle(mail, OutboundState.DEAD, error)
        return
    pause = _FIRST_PAUSE * 2 ** (mail.attempts - 1)
    MAILS.labels("failed").inc()
    _if_still_ours(mail, state=OutboundState.WAITING, error=error, due_at=clock.now() + pause)


def _if_still_ours(mail: OutboundMail, **values: object) -> None:
    """Writes what became of a claim, unless it outlived its lease and somebody else has it."""
    OutboundMail.objects.filter(
        id=mail.id, state=OutboundState.SENDING, attempts=mail.attempts
    ).update(**values)


def _put_off() -> None:
    """Leaves a server that does not answer alone for a while, at no message's expense."""
    now = clock.now()
    OutboundMail.objects.filter(state=OutboundState.WAITING, due_at__lte=now).update(
        due_at=now + _FIRST_PAUSE
    )


def choose(person: Person, level: str, address: str) -> EmailChoice:
    """Keeps a person's choice. What waited before they asked for more does not leave."""
    before = EmailChoice.objects.filter(person=person).first()
    since = before.since if before and before.level == level else clock.now()
    choice, _ = EmailChoice.objects.update_or_create(
        person=person, defaults={"level": level, "address": address, "since": since}
    )
    return choice
