"""Routes of files: a project's by path, an item's attachments."""

from __future__ import annotations

from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.parsers import JSONParser, MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response

from crewlet.doors.rest import ActAnswer, ErrorAnswer, ReadView, act_response, actor_of, json_body
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import CrewletError, ErrorCode
from tracker.actions.file_arguments import RemoveProjectFile, WriteProjectFile
from tracker.queries.detail import whole_item
from tracker.queries.files import attachments
from tracker.uploads import upload_args

_ERRORS: dict[Any, Any] = {"4XX": OpenApiResponse(ErrorAnswer)}
_KEY = OpenApiParameter("Idempotency-Key", OpenApiTypes.STR, OpenApiParameter.HEADER, required=True)
_LIST_KEYS = ("folder", "after", "limit")
_READ_KEYS = ("offset", "max_bytes", "encoding")


class AttachmentShape(serializers.Serializer[Any]):
    """A file on an item."""

    id = serializers.CharField()
    name = serializers.CharField()
    size = serializers.IntegerField()
    content_type = serializers.CharField()
    sha256 = serializers.CharField()
    comment = serializers.CharField(allow_null=True)
    author = serializers.CharField()
    author_name = serializers.CharField()
    created_at = serializers.DateTimeField()
    url = serializers.CharField()
    preview = serializers.CharField(help_text="address of the picture; empty for what is none")


class AttachmentListShape(serializers.Serializer[Any]):
    """The files on an item."""

    attachments = AttachmentShape(many=True)


class UploadShape(serializers.Serializer[Any]):
    """A file to attach, as multipart."""

    file = serializers.FileField()
    comment = serializers.CharField(required=False)


def _given(request: Request, known: tuple[str, ...]) -> dict[str, str]:
    query = {key: value for key, value in request.query_params.items() if key != "format"}
    unknown = sorted(set(query) - set(known))
    if unknown:
        raise CrewletError(
            f"{unknown[0]}: this address knows no such key; there are: {', '.join(known)}.",
            code=ErrorCode.INVALID_QUERY,
            field=unknown[0],
        )
    return {key: str(value) for key, value in query.items()}


def _query(names: tuple[str, ...]) -> list[OpenApiParameter]:
    return [OpenApiParameter(name, OpenApiTypes.STR) for name in names]


class ProjectFilesView(ReadView):
    """The files of a project."""

    @extend_schema(
        tags=["work"], parameters=_query(_LIST_KEYS), responses={200: ActAnswer, **_ERRORS}
    )
    def get(self, request: Request, key: str) -> Response:
        """Lists a project's files by path; `after` is the last path of the page before."""
        args = {**_given(request, _LIST_KEYS), "project": key}
        return act_response(request, "list_project_files", args)


class ProjectFileView(ReadView):
    """One file of a project."""

    @extend_schema(
        tags=["work"], parameters=_query(_READ_KEYS), responses={200: ActAnswer, **_ERRORS}
    )
    def get(self, request: Request, key: str, path: str) -> Response:
        """Reads a page of a file; one that is not text is described unless as base64."""
        args = {**_given(request, _READ_KEYS), "project": key, "path": path}
        return act_response(request, "read_project_file", args)

    @extend_schema(
        tags=["work"], parameters=[_KEY], request=WriteProjectFile,
        responses={200: ActAnswer, **_ERRORS},
    )  # fmt: skip
    def put(self, request: Request, key: str, path: str) -> Response:
        """Writes a file whole."""
        args = {**json_body(request), "project": key, "path": path}
        return act_response(request, "write_project_file", args)

    @extend_schema(
        tags=["work"], parameters=[_KEY], request=RemoveProjectFile,
        responses={200: ActAnswer, **_ERRORS},
    )  # fmt: skip
    def delete(self, request: Request, key: str, path: str) -> Response:
        """Removes a file."""
        args = {**json_body(request), "project": key, "path": path}
        return act_response(request, "remove_project_file", args)


class AttachmentsView(ReadView):
    """The files on an item."""

    parser_classes = (MultiPartParser, JSONParser)

    @extend_schema(tags=["work"], responses={200: AttachmentListShape, **_ERRORS})
    def get(self, request: Request, key: str) -> Response:
        """Lists the files on an item, oldest first."""
        return Response({"attachments": attachments(whole_item(key))})

    @extend_schema(
        tags=["work"], parameters=[_KEY], request={"multipart/form-data": UploadShape},
        responses={201: ActAnswer, **_ERRORS},
    )  # fmt: skip
    def post(self, request: Request, key: str) -> Response:
        """Attaches the file of the multipart field `file` to an item."""
        require(actor_of(request), Grant.WORK_WRITE)
        args = upload_args(request.FILES, key, str(request.POST.get("comment", "")))
        return act_response(request, "attach_file", args, status=201)
