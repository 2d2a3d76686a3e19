"""The one way in which a company document is stored and made live.

Recipe of an apply, one transaction:
1. lock the Company row (no key): applies stand in line here, and only here;
2. bring masks back from the running revision, check the whole document;
3. store the immutable revision, with every address written out;
4. compare: somebody saved since `base`? Then the revision stays stored and nothing goes live;
5. insert the Activation (its id is the epoch), flip the company, bring unit and seat rows in line;
6. announce `CompanyApplied` to the apps above, publish after commit.
Holds: the epoch order is the commit order, and every epoch's parent is the epoch before it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from crewlet.kernel import clock, live
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Conflict, CrewletError, ErrorCode, NotFound
from crewlet.kernel.events import EventType, announce, publish
from orgs import epochs
from orgs.chart import Chart
from orgs.document.differences import differences
from orgs.document.minting import minted
from orgs.document.outline import outline_of
from orgs.document.problems import Caution
from orgs.document.secrets import restored
from orgs.document.source import read
from orgs.document.validation import Reading, validate_data, validate_text
from orgs.events import CompanyApplied
from orgs.managed import require_writer
from orgs.models.company import Activation, Company, ConfigRevision
from orgs.projection import Projected, project

SUMMARY_MAX = 500
TOPICS = ("org", "agents")


@dataclass(frozen=True, slots=True)
class Applied:
    """What an apply did. `epoch` is None when nothing went live: after a dry run, or because
    somebody saved first (`advanced_to` names their revision, `revision_id` keeps this one)."""

    revision_id: UUID | None
    epoch: int | None
    warnings: tuple[Caution, ...] = ()
    base_revision_id: UUID | None = None
    advanced_to: UUID | None = None
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class _Write:
    """Who stores what for which reason, and on which base."""

    actor: Actor
    summary: str
    source: str
    base: UUID | None = None
    write_id: str | None = None


@dataclass(frozen=True, slots=True)
class _Start:
    """A revision that goes live; `derived` are handles that follow their names."""

    actor: Actor
    revision: ConfigRevision
    reason: str
    derived: frozenset[str] = frozenset()


class _DryRunDone(Exception):
    """Carries the answer of a dry run out of the savepoint that takes everything back."""

    def __init__(self, applied: Applied) -> None:
        super().__init__("dry run")
        self.applied = applied


def apply_document(
    actor: Actor,
    document: str | bytes | Mapping[str, Any],
    *,
    summary: str,
    base: UUID | None = None,
    dry_run: bool = False,
    create_only: bool = False,
    source: str = "api",
    write_id: str | None = None,
) -> Applied:
    """Checks, stores and activates a whole document; with `dry_run` does it all and takes it back.

    `base` is the revision the document was made from; None means whatever runs. Raises
    `validation_error` with every problem, `summary_required`, `precondition_failed` for
    `create_only` on a company or a `base` without one, `config_managed` for a credential that may
    not change it, `Conflict` when a held seat would go, and what receivers raise.
    """
    require_writer(actor)
    text = summary.strip()
    if not text:
        raise CrewletError(
            "Say in a sentence what changes and why: it is what the history shows.",
            code=ErrorCode.SUMMARY_REQUIRED,
            field="summary",
        )
    try:
        with transaction.atomic():
            company = _locked_company()
            _check_preconditions(company, base, create_only=create_only)
            data, reading = _checked(document, company.active_revision)
            write = _Write(actor, text, source, base, write_id)
            revision = _stored(write, data, reading, company)
            if base is not None and base != company.active_revision_id:
                applied = Applied(
                    revision.id, None, reading.warnings, base, company.active_revision_id
                )
            else:
                derived = frozenset(
                    seat.handle for seat in outline_of(data).seats if not seat.handle_written
                )
                applied = _activate(_Start(actor, revision, "applied", derived), company, reading)
            if dry_run:
                raise _DryRunDone(applied)
            return applied
    except _DryRunDone as done:
        return replace(done.applied, revision_id=None, epoch=None)


def activate_revision(actor: Actor, revision_id: UUID, *, summary: str = "") -> Applied:
    """Makes a stored revision live again.

    The running one is republished unchanged as a new epoch (rotation); any other one becomes the
    payload of a new revision on top of the history, which is never rewritten.
    """
    with transaction.atomic():
        company = _locked_company()
        wanted = ConfigRevision.objects.filter(id=revision_id).first()
        if wanted is None:
            raise NotFound(f"There is no revision {revision_id}: see `company revisions`.")
        _, reading = _checked(wanted.payload, None)
        if wanted.id == company.active_revision_id:
            return _activate(_Start(actor, wanted, "reload"), company, reading)
        require_writer(actor)
        text = summary.strip() or f"Back to: {wanted.summary}"
        revision = _stored(_Write(actor, text, "revert"), wanted.payload, reading, company)
        return _activate(_Start(actor, revision, "revert"), company, reading)


def _locked_company() -> Company:
    # Two first imports meet here: one inserts, the other waits for it on the lock.
    Company.objects.bulk_create([Company(id=1, name="", origin_name="")], ignore_conflicts=True)
    locked = Company.objects.select_for_update(no_key=True, of=("self",))
    return locked.select_related("active_revision").get(id=1)


def _check_preconditions(company: Company, base: UUID | None, *, create_only: bool) -> None:
    if create_only and company.active_revision_id is not None:
        raise CrewletError(
            "A company is already set up here: send the change with If-Match instead.",
            code=ErrorCode.PRECONDITION_FAILED,
            reason="already_configured",
        )
    if base is not None and company.active_revision_id is None:
        raise CrewletError(
            "No company is set up yet, so there is nothing to base a change on.",
            code=ErrorCode.PRECONDITION_FAILED,
            reason="no_active_revision",
        )


def _checked(
    document: str | bytes | Mapping[str, Any], base: ConfigRevision | None
) -> tuple[dict[str, Any], Reading]:
    payload = base.payload if base is not None else {}
    if isinstance(document, Mapping):
        data, masks = restored(dict(document), payload)
        reading = validate_data(data)
    else:
        reading = validate_text(document)
        data, masks = restored(read(document).data, payload)
        if reading.document is not None and data != reading.data:
            reading = replace(validate_data(data), warnings=reading.warnings)
    problems = (*masks, *reading.problems)
    if problems or reading.document is None:
        raise invalid_document([problem.to_json() for problem in problems])
    return data, reading


def checked_reading(document: str | bytes | Mapping[str, Any]) -> Reading:
    """Reads a document again without applying it, for what its chart would be."""
    if isinstance(document, Mapping):
        return validate_data(dict(document))
    return validate_text(document)


def payload_of(document: str | bytes | Mapping[str, Any]) -> dict[str, Any]:
    """Returns what a document would be stored as on top of the running one: hidden keys put back,
    handles and keys of units written out. Raises `validation_error` with every problem."""
    data, reading = _checked(document, _running())
    return minted(data, reading.chart)


def document_diff(document: str | bytes | Mapping[str, Any]) -> list[dict[str, Any]]:
    """Tells what a document would change of the running company, secrets hidden; where there is
    none, all of it. Raises as `payload_of`."""
    running = _running()
    before = running.payload if running else {}
    return [item.as_json() for item in differences(before, payload_of(document))]


def _running() -> ConfigRevision | None:
    company = Company.objects.select_related("active_revision").filter(id=1).first()
    return company.active_revision if company else None


def invalid_document(problems: list[dict[str, Any]]) -> CrewletError:
    """Makes the refusal of a faulty document: every problem in its detail, the first in words."""
    first = problems[0]
    place = first["path"] or "the document"
    line = f" (line {first['line']})" if first["line"] else ""
    more = f" {len(problems) - 1} more problems follow." if len(problems) > 1 else ""
    return CrewletError(
        f"The company was not changed: {place}{line}: {first['message']}{more}",
        code=ErrorCode.VALIDATION_ERROR,
        field=first["path"],
        problems=problems,
    )


def _stored(
    write: _Write, data: dict[str, Any], reading: Reading, company: Company
) -> ConfigRevision:
    payload = minted(data, reading.chart)
    parent, base, actor = company.active_revision_id, write.base, write.actor
    if base is not None and base != parent:
        parent = base if ConfigRevision.objects.filter(id=base).exists() else None
    taken = ConfigRevision.objects.filter(write_id=write.write_id)
    if write.write_id is not None and taken.exists():
        raise Conflict("This write was already stored: read the configuration again.")
    return ConfigRevision.objects.create(
        parent_id=parent,
        payload=payload,
        sha256=hashlib.sha256(json.dumps(payload, sort_keys=True).encode()).hexdigest(),
        source=write.source,
        summary=write.summary[:SUMMARY_MAX],
        write_id=write.write_id,
        author=actor.author,
        author_kind=actor.kind.value,
        credential=actor.credential,
        created_at=clock.now(),
    )


def _activate(start: _Start, company: Company, reading: Reading) -> Applied:
    now, revision = clock.now(), start.revision
    base = company.active_revision_id
    before = epochs.snapshot(epoch) if (epoch := epochs.current()) is not None else None
    document = epochs.read_document(revision)
    company.name = document.name
    company.origin_name = company.origin_name or document.name
    company.active_revision = revision
    company.save()
    projected = project(
        Chart.of(document),
        company=company.origin_name,
        at=now,
        before=before.chart if before else None,
        derived=start.derived,
    )
    activation = Activation.objects.create(
        revision=revision,
        reason=start.reason,
        author=start.actor.author,
        at=now,
        seat_ids={handle: str(seat) for handle, seat in projected.seat_ids.items()},
    )
    after = epochs.build(activation, revision)
    announce(CompanyApplied(epoch=activation.id, before=before, after=after))
    warnings = (*reading.warnings, *_identities(projected))
    _tell(start.actor, activation, revision, projected, warnings)
    return Applied(
        revision_id=revision.id,
        epoch=activation.id,
        warnings=warnings,
        base_revision_id=base,
        added=projected.added,
        removed=projected.removed,
        renamed=projected.renamed,
    )


def _identities(projected: Projected) -> tuple[Caution, ...]:
    """Says which seats of the document are taken for seats that were there before."""
    returned = tuple(
        Caution(
            (),
            "seat_returned",
            f"{handle} was a seat before: its memory comes back with the handle. "
            "For somebody new, take another handle.",
            seat=handle,
        )
        for handle in projected.returned
    )
    return returned + tuple(
        Caution(
            (),
            "seat_renamed",
            f"{new} is taken as the seat that was {old}: its mail and memory stay with it. "
            "If it is a new seat, remove the old one in a revision of its own first.",
            seat=new,
        )
        for old, new in projected.renamed
    )


def _tell(
    actor: Actor,
    activation: Activation,
    revision: ConfigRevision,
    projected: Projected,
    warnings: tuple[Caution, ...],
) -> None:
    publish(
        EventType.CONFIG_REVISION_ACTIVATED,
        summary=f"{revision.summary} (epoch {activation.id})",
        actor=actor.author,
        payload={
            "epoch": activation.id,
            "revision_id": str(revision.id),
            "reason": activation.reason,
            "added": list(projected.added),
            "removed": list(projected.removed),
            "renamed": [list(pair) for pair in projected.renamed],
        },
        topics=TOPICS,
    )
    for caution in warnings:
        if caution.code == "dangling_reference":
            publish(
                EventType.ORG_DANGLING_REFERENCE,
                summary=f"{caution.path}: {caution.message}",
                actor=actor.author,
                payload={"epoch": activation.id, **caution.to_json()},
                topics=("org",),
            )
    live.changed(*TOPICS)
