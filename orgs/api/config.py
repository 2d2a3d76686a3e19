"""The company document over REST: read it, replace it, see its history and its schema."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from crewlet.doors.rest import ErrorAnswer, actor_of
from crewlet.kernel.actions import Door, Result, perform
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import CrewletError, ErrorCode, Invalid
from crewlet.kernel.ids import new_id
from orgs.document.schema import schema
from orgs.document.source import read
from orgs.document.writing import to_yaml
from orgs.epochs import active_revision
from orgs.queries import company

PAGE = 50
MAX_PAGE = 200


class YamlRenderer(BaseRenderer):
    """Answers as YAML, for `?format=yaml` and `Accept: application/yaml`."""

    media_type = "application/yaml"
    format = "yaml"
    charset = "utf-8"

    def render(self, data: Any, *_args: Any, **_kwargs: Any) -> bytes:
        """Gives the answer's data as YAML text."""
        return to_yaml(data).encode() if data is not None else b""


class CompanyAnswer(serializers.Serializer[Any]):
    """What an apply answers."""

    revision_id = serializers.UUIDField(allow_null=True)
    epoch = serializers.IntegerField(allow_null=True)
    base_revision_id = serializers.UUIDField(allow_null=True)
    warnings = serializers.ListField(child=serializers.DictField())
    derived = serializers.DictField()
    message = serializers.CharField()


class RevisionRow(serializers.Serializer[Any]):
    """One stored revision without its payload."""

    id = serializers.UUIDField()
    parent = serializers.UUIDField(allow_null=True)  # type: ignore[assignment]
    summary = serializers.CharField()
    source = serializers.CharField()  # type: ignore[assignment]
    author = serializers.CharField()
    author_kind = serializers.CharField()
    credential = serializers.CharField(allow_blank=True)
    created_at = serializers.DateTimeField()
    sha256 = serializers.CharField()
    epochs = serializers.ListField(child=serializers.IntegerField())
    active = serializers.BooleanField()


class DifferenceRow(serializers.Serializer[Any]):
    """One change: a field of an entity, or the whole entity where `field` is empty."""

    entity = serializers.CharField()
    field = serializers.CharField(allow_blank=True)
    kind = serializers.ChoiceField(["added", "removed", "changed"])
    before = serializers.JSONField(allow_null=True)
    after = serializers.JSONField(allow_null=True)


class RevisionDiff(serializers.Serializer[Any]):
    """What a revision changed against another one, or against nothing."""

    revision_id = serializers.UUIDField()
    against = serializers.UUIDField(allow_null=True)
    differences = DifferenceRow(many=True)


class RevisionList(serializers.Serializer[Any]):
    """Stored revisions, the newest first; `next` is the id to ask `before`."""

    revisions = RevisionRow(many=True)
    next = serializers.UUIDField(allow_null=True)


class RevisionAnswer(RevisionRow):
    """One stored revision with its document, secrets hidden."""

    document = serializers.DictField()


MERGE_PATCH = "application/merge-patch+json"
WRITTEN: dict[int, Any] = {
    201: CompanyAnswer,
    200: CompanyAnswer,
    **dict.fromkeys((400, 403, 404, 409, 412, 415), ErrorAnswer),
}
WRITE_HEADERS = [
    OpenApiParameter("dry_run", bool, description="check, answer what would be, keep nothing"),
    OpenApiParameter("X-Summary", str, OpenApiParameter.HEADER, description="why"),
    OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, description="base revision"),
    OpenApiParameter("If-None-Match", str, OpenApiParameter.HEADER, description="* = create"),
    OpenApiParameter("Idempotency-Key", str, OpenApiParameter.HEADER),
]
DOCUMENT_BODY = {"application/json": OpenApiTypes.OBJECT, "application/yaml": OpenApiTypes.STR}


class ConfigView(APIView):
    """The running document; a write makes a new revision and applies it."""

    renderer_classes = (JSONRenderer, YamlRenderer)

    @extend_schema(
        operation_id="config_read", responses={200: OpenApiTypes.OBJECT, 404: ErrorAnswer}
    )
    def get(self, request: Request) -> Response:
        """Answers the running document with secrets hidden; the ETag is its revision."""
        require(actor_of(request), Grant.CONFIG_READ)
        revision = active_revision()
        answer = Response(company.document_of(revision, redact=True))
        return fresh(answer, revision.id)

    @extend_schema(
        operation_id="config_write",
        request=DOCUMENT_BODY,
        responses=WRITTEN,
        parameters=WRITE_HEADERS,
    )
    def put(self, request: Request) -> Response:
        """Replaces the whole document (YAML or JSON, told apart by the text itself)."""
        dry_run = flag(request, "dry_run")
        document, summary = _document(request)
        base = base_of(request)
        if dry_run:
            return answer_checked(request, document, base)
        args = {
            "document": document,
            "base": base,
            "summary": summary,
            "create_only": request.headers.get("If-None-Match", "").strip() == "*",
        }
        result = do(request, "apply_company", args)
        return answer_applied(result)

    @extend_schema(
        operation_id="config_patch",
        request={MERGE_PATCH: OpenApiTypes.OBJECT},
        responses=WRITTEN,
        parameters=WRITE_HEADERS,
    )
    def patch(self, request: Request) -> Response:
        """Lays a merge patch (RFC 7396) over the running document."""
        dry_run = flag(request, "dry_run")
        patch, summary = _patch(request)
        if dry_run:
            require(actor_of(request), Grant.CONFIG_WRITE)
            document, base = company.patched(patch, base_of(request))
            return answer_checked(request, document, base)
        args = {"patch": patch, "base": base_of(request), "summary": summary}
        return answer_applied(do(request, "patch_company", args))


class RevisionsView(APIView):
    """The history of the document."""

    @extend_schema(
        operation_id="config_revisions",
        responses=RevisionList,
        parameters=[
            OpenApiParameter("limit", int, description=f"1 to {MAX_PAGE}"),
            OpenApiParameter("before", OpenApiTypes.UUID, description="list what is older"),
        ],
    )
    def get(self, request: Request) -> Response:
        """Lists stored revisions, the newest first."""
        require(actor_of(request), Grant.CONFIG_READ)
        limit, before = _limit(request), _uuid(request.query_params.get("before"), "before")
        rows = company.revisions(limit=limit + 1, before=before)
        more = rows[limit - 1]["id"] if len(rows) > limit else None
        return fresh(Response({"revisions": rows[:limit], "next": more}), None)


class RevisionView(APIView):
    """One revision of the history."""

    @extend_schema(
        operation_id="config_revision", responses={200: RevisionAnswer, 404: ErrorAnswer}
    )
    def get(self, request: Request, revision_id: UUID) -> Response:
        """Answers one stored revision with its document, secrets hidden."""
        require(actor_of(request), Grant.CONFIG_READ)
        return fresh(Response(company.revision_detail(revision_id)), revision_id)


class RevisionDiffView(APIView):
    """What one revision changed."""

    @extend_schema(
        operation_id="config_revision_diff",
        responses={200: RevisionDiff, 404: ErrorAnswer},
        parameters=[
            OpenApiParameter(
                "against", OpenApiTypes.UUID, description="by default the one it was made from"
            )
        ],
    )
    def get(self, request: Request, revision_id: UUID) -> Response:
        """Answers what a revision changed, by seat, unit and provider, secrets hidden."""
        require(actor_of(request), Grant.CONFIG_READ)
        against = _uuid(request.query_params.get("against"), "against")
        return fresh(Response(company.revision_diff(revision_id, against)), None)


class SchemaView(APIView):
    """The JSON Schema of the document."""

    @extend_schema(operation_id="config_schema", responses=OpenApiTypes.OBJECT)
    def get(self, request: Request) -> Response:
        """Answers the JSON Schema (2020-12) that editors and programs check a document with."""
        actor_of(request)
        return Response(schema())


def answer_checked(request: Request, document: str | dict[str, Any], base: UUID | None) -> Response:
    """Answers what applying a document would do."""
    result = do(request, "check_company", {"document": document, "base": base})
    return fresh(Response({**_shown(result), "valid": True}), None)


def answer_applied(result: Result) -> Response:
    """Answers 201 for what went live; raises `revision_advanced` for what is only stored."""
    if result.data["status"] == "stored":
        raise CrewletError(
            result.message,
            code=ErrorCode.REVISION_ADVANCED,
            current_version=result.data["advanced_to"],
            stored_revision_id=result.data["revision_id"],
        )
    return fresh(Response(_shown(result), status=201), result.data["revision_id"])


def _patch(request: Request) -> tuple[dict[str, Any], str]:
    """Gives a merge patch and its summary; raises for any other kind of patch."""
    kind = (request.content_type or "").split(";", 1)[0].strip().lower()
    if kind not in (MERGE_PATCH, "application/json"):
        raise CrewletError(
            f"A patch of the company is {MERGE_PATCH}.", code=ErrorCode.UNSUPPORTED_MEDIA
        )
    try:
        patch = json.loads(request.body)
    except ValueError as error:
        raise CrewletError("The patch is not JSON.", code=ErrorCode.INVALID_PATCH) from error
    if not isinstance(patch, dict):
        raise CrewletError("A merge patch is an object.", code=ErrorCode.INVALID_PATCH)
    summary = patch.pop("_summary", "")
    return patch, header_text(request.headers.get("X-Summary", "")) or str(summary)


def do(request: Request, name: str, args: dict[str, Any]) -> Result:
    """Does an action for whoever asks, once for each `Idempotency-Key`."""
    op_id = request.headers.get("Idempotency-Key", "").strip() or str(new_id())
    return perform(actor_of(request), name, args, op_id=op_id, door=Door.REST).unwrap()


def _shown(result: Result) -> dict[str, Any]:
    kept = ("revision_id", "epoch", "base_revision_id", "warnings", "derived", "renamed")
    return {**{key: result.data[key] for key in kept}, "message": result.message}


def fresh(response: Response, revision: UUID | str | None) -> Response:
    """Marks an answer as not to be kept, and with its revision."""
    response["Cache-Control"] = "no-store"
    if revision is not None:
        response["ETag"] = f'"{revision}"'
    return response


def _document(request: Request) -> tuple[str | dict[str, Any], str]:
    """Gives the document and its summary. Text stays text, so that problems have their lines."""
    body = request.body
    summary = header_text(request.headers.get("X-Summary", ""))
    if not summary:
        source = read(body)
        if isinstance(source.data, dict) and not source.problems and "_summary" in source.data:
            rest = dict(source.data)
            return rest, str(rest.pop("_summary"))
    try:
        return body.decode("utf-8"), summary
    except UnicodeDecodeError as error:
        raise CrewletError("The body is not UTF-8 text.", code=ErrorCode.INVALID_BODY) from error


def header_text(value: str) -> str:
    """Headers arrive as Latin-1; most programs that send more than ASCII mean UTF-8."""
    try:
        return value.encode("latin-1").decode("utf-8").strip()
    except UnicodeError:
        return value.strip()


def base_of(request: Request) -> UUID | None:
    """Gives the revision of `If-Match`; None where any will do."""
    tag = request.headers.get("If-Match", "").strip().removeprefix("W/").strip('"')
    return None if tag in ("", "*") else _uuid(tag, "If-Match")


def _uuid(text: str | None, field: str) -> UUID | None:
    if not text:
        return None
    try:
        return UUID(text)
    except ValueError as error:
        raise Invalid(f"{field} is not a revision id.", field=field) from error


def flag(request: Request, name: str) -> bool:
    """Gives a query switch that is exactly true or false; raises `invalid_query`."""
    value = request.query_params.get(name)
    if value not in (None, "true", "false"):
        raise CrewletError(
            f"{name} is exactly true or false.", code=ErrorCode.INVALID_QUERY, field=name
        )
    return value == "true"


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", str(PAGE))
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= MAX_PAGE:
        raise CrewletError(
            f"limit is a number from 1 to {MAX_PAGE}.", code=ErrorCode.INVALID_QUERY, field="limit"
        )
    return int(text)
