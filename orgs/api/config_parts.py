"""Parts of the company document over REST: one entity, a revert, a reload, a check, references."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from crewlet.doors.rest import ErrorAnswer, actor_of
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs.api.config import (
    DOCUMENT_BODY,
    WRITE_HEADERS,
    WRITTEN,
    answer_applied,
    answer_checked,
    base_of,
    do,
    flag,
    fresh,
    header_text,
)
from orgs.document.patches import KINDS
from orgs.document.source import read
from orgs.document.validation import validate_text
from orgs.queries import company

WHY = OpenApiParameter("X-Summary", str, OpenApiParameter.HEADER, description="why")
KIND = OpenApiParameter("kind", str, OpenApiParameter.PATH, enum=list(KINDS))


class ReferenceRow(serializers.Serializer[Any]):
    """One `${NAME}` and the paths that use it."""

    name = serializers.CharField()
    paths = serializers.ListField(child=serializers.CharField())


class ReferenceIndex(serializers.Serializer[Any]):
    """Every `${NAME}` of the running document."""

    revision_id = serializers.UUIDField()
    references = ReferenceRow(many=True)


class Checked(serializers.Serializer[Any]):
    """What is wrong with a document, every problem at once."""

    valid = serializers.BooleanField()
    problems = serializers.ListField(child=serializers.DictField())
    warnings = serializers.ListField(child=serializers.DictField())


class EntityView(APIView):
    """One seat, unit, model provider or tool server of the running document."""

    @extend_schema(
        operation_id="config_entity_read",
        responses={200: OpenApiTypes.OBJECT, 404: ErrorAnswer},
        parameters=[KIND],
    )
    def get(self, request: Request, kind: str, address: str) -> Response:
        """Answers one entity with secrets hidden; the ETag is the document's revision."""
        require(actor_of(request), Grant.CONFIG_READ)
        found, revision = company.entity(kind, address)
        return fresh(Response(found), revision)

    @extend_schema(
        operation_id="config_entity_write",
        request=DOCUMENT_BODY,
        responses=WRITTEN,
        parameters=[KIND, *WRITE_HEADERS],
    )
    def put(self, request: Request, kind: str, address: str) -> Response:
        """Replaces one entity; it never renames, and creates only with `If-None-Match: *`."""
        require(actor_of(request), Grant.CONFIG_WRITE)
        dry_run, create = flag(request, "dry_run"), _create(request)
        part, summary = _part(request)
        if dry_run:
            document, base = company.with_part(kind, address, part, base_of(request), create=create)
            return answer_checked(request, document, base)
        args = {
            "kind": kind,
            "address": address,
            "part": part,
            "base": base_of(request),
            "create": create,
            "summary": summary,
        }
        return answer_applied(do(request, "put_company_part", args))


class RevertView(APIView):
    """Bringing an earlier revision back."""

    @extend_schema(operation_id="config_revert", request=None, responses=WRITTEN, parameters=[WHY])
    def post(self, request: Request, revision_id: UUID) -> Response:
        """Makes the document of an earlier revision live, as a new revision."""
        args = {"revision": str(revision_id), "summary": _why(request)}
        return answer_applied(do(request, "activate_revision", args))


class ReloadView(APIView):
    """Publishing the running document again."""

    @extend_schema(operation_id="config_reload", request=None, responses=WRITTEN, parameters=[WHY])
    def post(self, request: Request) -> Response:
        """Publishes the unchanged document as a new epoch, so that new values take hold."""
        return answer_applied(do(request, "reload_company", {"summary": _why(request)}))


class ValidateView(APIView):
    """Checking a document without a company."""

    @extend_schema(operation_id="config_validate", request=DOCUMENT_BODY, responses={200: Checked})
    def post(self, request: Request) -> Response:
        """Answers every problem of a document; needs nothing of what runs and keeps nothing."""
        require(actor_of(request), Grant.CONFIG_READ)
        reading = validate_text(request.body)
        return fresh(
            Response(
                {
                    "valid": not reading.problems,
                    "problems": [problem.to_json() for problem in reading.problems],
                    "warnings": [caution.to_json() for caution in reading.warnings],
                }
            ),
            None,
        )


class ReferencesView(APIView):
    """What the document refers to."""

    @extend_schema(
        operation_id="config_references", responses={200: ReferenceIndex, 404: ErrorAnswer}
    )
    def get(self, request: Request) -> Response:
        """Answers every `${NAME}` of the running document with the paths that use it."""
        require(actor_of(request), Grant.CONFIG_READ)
        return fresh(Response(company.reference_index()), None)


def _create(request: Request) -> bool:
    return request.headers.get("If-None-Match", "").strip() == "*"


def _why(request: Request) -> str:
    return header_text(request.headers.get("X-Summary", ""))


def _part(request: Request) -> tuple[dict[str, Any], str]:
    source = read(request.body)
    if source.problems or not isinstance(source.data, dict):
        raise CrewletError(
            "The body is one entity, as a map of keys in YAML or JSON.",
            code=ErrorCode.INVALID_BODY,
            problems=[problem.to_json() for problem in source.problems],
        )
    part = dict(source.data)
    summary = part.pop("_summary", "")
    return part, _why(request) or str(summary)
