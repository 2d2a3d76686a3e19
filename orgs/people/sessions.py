"""Signed-in browsers. A Django session carries the id of a `SessionRecord`, the record decides.

A session ends when its record is ended, when the person's revocation epoch moves (all at once),
when the person is suspended, after 14 idle days (the cookie's age) or 90 days in all.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.contrib.sessions.backends.base import SessionBase
from django.db import transaction
from django.http import HttpRequest

from crewlet.kernel import clock
from crewlet.kernel.events import EventType, publish
from orgs.models.people import Person, PersonStage, SessionRecord

LONGEST = timedelta(days=90)
_KEY = "session_record"
_SEEN_EVERY = timedelta(minutes=1)
_COOKIE_RENEWED_EVERY = timedelta(days=1)


def start(request: HttpRequest, person: Person, *, source: str) -> SessionRecord:
    """Signs a person in on this browser: a new session key, a new record, one event."""
    now = clock.now()
    with transaction.atomic():
        before = record_of(request.session)
        if before is not None:
            end(before, by=before.person.login)
        record = SessionRecord.objects.create(
            person=person,
            epoch=person.revocation_epoch,
            started_at=now,
            seen_at=now,
            source=source[:64],
            agent=request.headers.get("User-Agent", "")[:200],
        )
        Person.objects.filter(id=person.id).update(last_seen_at=now)
        publish(
            EventType.IAM_SESSION_STARTED,
            summary=f"{person.name} signed in",
            actor=person.login,
            payload={"session": str(record.id)},
        )
        # A key that was planted before sign-in must not be worth anything after it.
        request.session.flush()
        request.session[_KEY] = str(record.id)
        request.session["renewed"] = now.timestamp()
        request.session.save()
    return record


def record_of(session: SessionBase) -> SessionRecord | None:
    """Returns the live record behind a Django session, with its person and seat, or None."""
    ident = _record_id(session.get(_KEY))
    if ident is None:
        return None
    record = SessionRecord.objects.select_related("person__seat").filter(id=ident).first()
    return record if record is not None and is_live(record) else None


def is_live(record: SessionRecord) -> bool:
    """Returns whether a session still signs its person in."""
    return (
        record.ended_at is None
        and record.person.stage == PersonStage.ACTIVE
        and record.epoch == record.person.revocation_epoch
        and record.started_at > clock.now() - LONGEST
    )


def touch(request: HttpRequest, record: SessionRecord) -> None:
    """Notes that the person is here, at most once a minute, and lengthens the cookie once a day."""
    now = clock.now()
    if now - record.seen_at < _SEEN_EVERY:
        return
    SessionRecord.objects.filter(id=record.id, seen_at__lt=now - _SEEN_EVERY).update(seen_at=now)
    Person.objects.filter(id=record.person_id).update(last_seen_at=now)
    renewed = float(request.session.get("renewed", 0))
    if now.timestamp() - renewed > _COOKIE_RENEWED_EVERY.total_seconds():
        request.session["renewed"] = now.timestamp()


def leave(request: HttpRequest) -> None:
    """Signs this browser out; does nothing when nobody was signed in."""
    record = record_of(request.session)
    if record is not None:
        end(record, by=record.person.login)
    request.session.flush()


def end(record: SessionRecord, *, by: str) -> bool:
    """Ends one session; returns False when it had ended already."""
    with transaction.atomic():
        ended = SessionRecord.objects.filter(id=record.id, ended_at=None).update(
            ended_at=clock.now()
        )
        if ended:
            _tell(record.person, by, count=1)
    return bool(ended)


def end_all(person: Person, *, by: str) -> int:
    """Ends every session of a person by moving the revocation epoch; returns how many there were.

    The epoch ends also a session that is being started at this moment with the old one.
    """
    with transaction.atomic():
        locked = Person.objects.select_for_update(no_key=True, of=("self",)).get(id=person.id)
        locked.revocation_epoch += 1
        locked.save(update_fields=["revocation_epoch"])
        ended = SessionRecord.objects.filter(person=person, ended_at=None).update(
            ended_at=clock.now()
        )
        if ended:
            _tell(person, by, count=ended)
    person.revocation_epoch = locked.revocation_epoch
    return ended


def live_sessions(person: Person) -> list[SessionRecord]:
    """Returns the sessions that sign the person in now, the newest first."""
    records = SessionRecord.objects.filter(person=person, ended_at=None).select_related("person")
    return [record for record in records.order_by("-started_at") if is_live(record)]


def _tell(person: Person, by: str, *, count: int) -> None:
    whose = "a session" if count == 1 else f"{count} sessions"
    publish(
        EventType.IAM_SESSION_ENDED,
        summary=f"{whose.capitalize()} of {person.name} ended",
        actor=by,
        payload={"login": person.login, "count": count},
    )


def _record_id(value: Any) -> UUID | None:
    try:
        return UUID(str(value))
    except ValueError:
        return None
