"""The verbs of the company document: apply one, check one, bring one back."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field, StringConstraints

from crewlet.kernel.actions import Args, Doors, Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from orgs import revisions
from orgs.chart import Chart
from orgs.epochs import active_revision, read_document
from orgs.queries.company import derived, patched, revision_named, with_part
from orgs.revisions import Applied

Summary = Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)]


class CheckCompany(Args):
    """A whole company document, as YAML or JSON text or as an object."""

    document: str | dict[str, Any] = Field(description="the document, as text or as an object")
    base: UUID | None = Field(None, description="the revision that the document was made from")


class ApplyCompany(CheckCompany):
    """A whole company document and why it is applied."""

    summary: Summary = Field(description="one sentence for the history: what changes and why")
    create_only: bool = Field(default=False, description="refuse when a company is already set up")
    source: str = Field("api", pattern="^(api|file|admin|builder|setup)$")


class ActivateRevision(Args):
    """A stored revision to make live."""

    revision: UUID
    summary: Summary = Field("", description="why; empty takes the revision's own summary")


@action(
    "check_company",
    args=CheckCompany,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    reads=True,
    label="Checked the company document",
)
def check_company(actor: Actor, args: CheckCompany, _target: None) -> Result:
    """Try a company document to the end and take it back: every problem at once, else the
    warnings and what the chart would become. Changes nothing."""
    applied = revisions.apply_document(
        actor, args.document, summary="Check", base=args.base, dry_run=True
    )
    reading = revisions.checked_reading(args.document)
    data = _answer(applied) | {"valid": True, "derived": derived(reading.chart)}
    return Result("The document can be applied." + _warned(applied), data=data)


@action(
    "apply_company",
    args=ApplyCompany,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    destructive=True,
    label="Applied the company document",
)
def apply_company(actor: Actor, args: ApplyCompany, _target: None) -> Result:
    """Make a company document the running company: checked as a whole, stored as a revision, live
    at once for new turns. When somebody saved since `base`, it is stored and not made live."""
    applied = revisions.apply_document(
        actor,
        args.document,
        summary=args.summary,
        base=args.base,
        create_only=args.create_only,
        source=args.source,
    )
    return _result(applied)


@action(
    "activate_revision",
    args=ActivateRevision,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    destructive=True,
    label="Activated a revision",
)
def activate_revision(actor: Actor, args: ActivateRevision, _target: None) -> Result:
    """Bring a stored revision back as a new one on top of the history; the running one is
    published again unchanged, as a new epoch."""
    return _result(revisions.activate_revision(actor, args.revision, summary=args.summary))


class PatchCompany(Args):
    """A merge patch of the company document and why."""

    patch: dict[str, Any] = Field(description="RFC 7396: null removes a key, a list replaces one")
    base: UUID | None = Field(None, description="the revision that the patch was made for")
    summary: Summary = Field(description="one sentence for the history: what changes and why")


class PutCompanyPart(Args):
    """One seat, unit, provider or server of the company document and why."""

    kind: str = Field(pattern="^(roles|units|llm-providers|mcp-servers)$")
    address: str = Field(min_length=1, max_length=200, description="handle, key or name")
    part: dict[str, Any] = Field(description="the whole entity as the document writes it")
    base: UUID | None = Field(None, description="the revision that the change was made for")
    create: bool = Field(default=False, description="put it in; refused when it is there")
    summary: Summary = Field(description="one sentence for the history: what changes and why")


class ReloadCompany(Args):
    """Nothing but why."""

    summary: Summary = Field("", description="one sentence, or nothing")


@action(
    "patch_company",
    args=PatchCompany,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    destructive=True,
    label="Changed the company document",
)
def patch_company(actor: Actor, args: PatchCompany, _target: None) -> Result:
    """Change some keys of the company document and leave the rest as it runs: checked as a whole,
    stored as a revision, live at once. When somebody saved since `base`, it is only stored."""
    document, base = patched(args.patch, args.base)
    return _result(revisions.apply_document(actor, document, summary=args.summary, base=base))


@action(
    "put_company_part",
    args=PutCompanyPart,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    destructive=True,
    label="Changed a part of the company document",
)
def put_company_part(actor: Actor, args: PutCompanyPart, _target: None) -> Result:
    """Replace one seat, unit, model provider or tool server of the company document by its
    address; the rest stays. It never renames, and adds one only when asked to create."""
    document, base = with_part(args.kind, args.address, args.part, args.base, create=args.create)
    return _result(revisions.apply_document(actor, document, summary=args.summary, base=base))


@action(
    "reload_company",
    args=ReloadCompany,
    doors=Doors.PEOPLE,
    grant=Grant.CONFIG_WRITE,
    destructive=True,
    label="Reloaded the company document",
)
def reload_company(actor: Actor, args: ReloadCompany, _target: None) -> Result:
    """Publish the running document again, unchanged, as a new epoch: new values behind its
    `${NAME}` references take hold."""
    running = active_revision().id
    return _result(revisions.activate_revision(actor, running, summary=args.summary))


def _result(applied: Applied) -> Result:
    data = _answer(applied)
    if applied.epoch is None:
        return Result(
            f"Somebody saved first (revision {applied.advanced_to}): your document is kept as "
            f"revision {applied.revision_id} and is not live. Read theirs and send yours again.",
            data=data,
        )
    if applied.revision_id is not None:
        data["derived"] = derived(Chart.of(read_document(revision_named(applied.revision_id))))
    return Result(
        f"The company runs revision {applied.revision_id} as epoch {applied.epoch}."
        + _warned(applied),
        refs=(f"revision:{applied.revision_id}",),
        data=data,
    )


def _answer(applied: Applied) -> dict[str, Any]:
    return {
        "status": "live"
        if applied.epoch is not None
        else "stored"
        if applied.revision_id
        else "checked",
        "revision_id": str(applied.revision_id) if applied.revision_id else None,
        "epoch": applied.epoch,
        "base_revision_id": str(applied.base_revision_id) if applied.base_revision_id else None,
        "advanced_to": str(applied.advanced_to) if applied.advanced_to else None,
        "warnings": [caution.to_json() for caution in applied.warnings],
        "added": list(applied.added),
        "removed": list(applied.removed),
        "renamed": [list(pair) for pair in applied.renamed],
    }


def _warned(applied: Applied) -> str:
    count = len(applied.warnings)
    return "" if not count else f" {count} warning{'s' if count > 1 else ''}."
