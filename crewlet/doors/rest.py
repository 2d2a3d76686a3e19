"""The REST door: `POST /api/v1/act/<action>`, and the one shape of every API error.

One view class a verb is generated from the registry, so that the OpenAPI schema shows every
argument. Conventional routes of the apps call `act_response` and add nothing of their own.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from functools import lru_cache
from http import HTTPStatus
from typing import Any, cast

from django.conf import settings
from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpRequest
from django.urls import URLPattern, path
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import (
    OpenApiParameter,
    OpenApiResponse,
    extend_schema,
    extend_schema_view,
)
from rest_framework import exceptions, serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from crewlet.kernel.actions import ACTIONS, Action, Door, perform
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant, require
from crewlet.kernel.errors import (
    CrewletError,
    ErrorCode,
    Forbidden,
    Invalid,
    NotFound,
    Unauthenticated,
    Unavailable,
    body,
    status_of,
)

log = logging.getLogger(__name__)

MAX_OPERATION_ID = 120


class ActAnswer(serializers.Serializer[Any]):
    """What a write answers."""

    outcome = serializers.CharField(help_text="applied")
    message = serializers.CharField()
    refs = serializers.ListField(child=serializers.CharField())
    result = serializers.DictField()
    replayed = serializers.BooleanField(help_text="the same operation id was answered before")


class ErrorAnswer(serializers.Serializer[Any]):
    """What every refusal answers."""

    error = serializers.CharField()
    message = serializers.CharField()
    detail = serializers.DictField()
    request_id = serializers.CharField()


def actor_of(request: Request) -> Actor:
    """Returns who asks; raises `Unauthenticated` for nobody."""
    actor = getattr(request, "user", None)
    if isinstance(actor, Actor):
        return actor
    raise Unauthenticated("Send a session cookie or `Authorization: Bearer <token>`.")


class ReadView(APIView):
    """A view that needs a known actor with the grant to read the state of the company."""

    grant = Grant.STATE_READ

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuses an unknown actor with 401 and a missing grant with 403 naming it."""
        super().initial(request, *args, **kwargs)
        require(actor_of(request), self.grant)


def operation_id(request: Request) -> str:
    """Returns the `Idempotency-Key`; raises when it is missing or too long."""
    key = request.headers.get("Idempotency-Key", "").strip()
    if not key or len(key) > MAX_OPERATION_ID:
        raise CrewletError(
            f"Send an Idempotency-Key header of 1 to {MAX_OPERATION_ID} characters: a new one for "
            "each new write, the same one to repeat a write whose answer was lost.",
            code=ErrorCode.OP_ID_INVALID,
            field="Idempotency-Key",
        )
    return key


def act_response(
    request: Request, name: str, args: Mapping[str, Any], *, status: int = 200, op_id: str = ""
) -> Response:
    """Does an action for a REST request and answers what it did.

    A write needs an operation id; a reading action lands nowhere and needs none.
    """
    actor = actor_of(request)
    if not op_id and not ACTIONS.named(name, Door.REST).reads:
        op_id = operation_id(request)
    outcome = perform(actor, name, args, op_id=op_id or None, door=Door.REST)
    result = outcome.unwrap()
    return Response(
        {
            "outcome": outcome.status,
            "message": result.message,
            "refs": list(result.refs),
            "result": result.data,
            "replayed": outcome.replayed,
        },
        status=status,
    )


def json_body(request: Request) -> dict[str, Any]:
    """Returns the request's JSON object; an empty body is an empty object."""
    raw = request.body
    if not raw.strip():
        return {}
    try:
        data = json.loads(raw)
    except ValueError as error:
        raise Invalid(f"The body is not JSON: {error}.", code=ErrorCode.INVALID_BODY) from error
    if not isinstance(data, dict):
        raise Invalid("The body is to be a JSON object.", code=ErrorCode.INVALID_BODY)
    return data


class ActView(APIView):
    """Base of the generated views: one action each."""

    action_name = ""

    def post(self, request: Request) -> Response:
        """Does the action."""
        return act_response(request, self.action_name, json_body(request))


def _view_of(entry: Action) -> type[ActView]:
    class_name = "".join(part.title() for part in entry.name.split("_")) + "View"
    view = type(class_name, (ActView,), {"action_name": entry.name})
    key = OpenApiParameter(
        "Idempotency-Key", OpenApiTypes.STR, OpenApiParameter.HEADER, required=True
    )
    described = extend_schema(
        operation_id=f"act_{entry.name}",
        tags=["act"],
        summary=entry.label.replace("{", "").replace("}", ""),
        description=entry.description,
        parameters=[] if entry.reads else [key],
        request=cast("Any", entry.args),
        responses={200: ActAnswer, "4XX": OpenApiResponse(ErrorAnswer)},
    )
    return cast("type[ActView]", extend_schema_view(post=described)(view))


class UnknownActionView(APIView):
    """Answers for a verb that does not exist here, with the nearest ones."""

    schema = None

    def post(self, request: Request, name: str) -> Response:
        """Raises `NotFound`."""
        actor_of(request)
        ACTIONS.named(name, Door.REST)
        raise NotFound(f"There is no action '{name}' here.", field="action")


class UnknownRouteView(APIView):
    """Answers for an address below the API that does not exist, in the API's own shape."""

    schema = None

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Refuses an unknown actor first: nobody learns what is here and what is not."""
        super().initial(request, *args, **kwargs)
        actor_of(request)

    def http_method_not_allowed(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """Raises `NotFound`, whatever the method."""
        raise NotFound(
            f"There is nothing at {request.path}. GET /api/v1/schema describes every address."
        )


@lru_cache(maxsize=1)
def act_urls() -> tuple[URLPattern, ...]:
    """Returns a route for every action that lists the REST door."""
    generated = [
        path(f"act/{entry.name}", _view_of(entry).as_view(), name=f"act-{entry.name}")
        for entry in ACTIONS.all(Door.REST)
    ]
    return (*generated, path("act/<str:name>", UnknownActionView.as_view()))


_DRF_CODES: dict[type[exceptions.APIException], ErrorCode] = {
    exceptions.NotAuthenticated: ErrorCode.UNAUTHENTICATED,
    exceptions.AuthenticationFailed: ErrorCode.INVALID_TOKEN,
    exceptions.PermissionDenied: ErrorCode.FORBIDDEN,
    exceptions.NotFound: ErrorCode.NOT_FOUND,
    exceptions.MethodNotAllowed: ErrorCode.METHOD_NOT_ALLOWED,
    exceptions.UnsupportedMediaType: ErrorCode.UNSUPPORTED_MEDIA,
    exceptions.ParseError: ErrorCode.INVALID_BODY,
    exceptions.ValidationError: ErrorCode.INVALID_QUERY,
    exceptions.Throttled: ErrorCode.THROTTLED,
}


def exception_handler(error: Exception, context: dict[str, Any]) -> Response:
    """Maps every error to the one body and its status; an unexpected one is logged and hidden."""
    request = context.get("request")
    known = as_crewlet_error(error)
    if known is None:
        log.exception("api_error", exc_info=error, extra={"path": getattr(request, "path", "")})
        known = CrewletError(
            "Something broke here, and it is logged under this answer's request_id. Nothing of "
            "this request was kept."
        )
    response = Response(
        body(known, getattr(request, "request_id", "") or ""), status=status_of(known.code)
    )
    if known.retry_after is not None:
        response["Retry-After"] = str(known.retry_after)
    if response.status_code == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    return response


def as_crewlet_error(error: Exception) -> CrewletError | None:
    """Returns the error as one of ours with its code, or None for one that nobody expected."""
    if isinstance(error, CrewletError):
        return error
    if isinstance(error, Http404):
        return NotFound(str(error) or "There is nothing here.")
    if isinstance(error, exceptions.NotAuthenticated):
        return Unauthenticated("Send a session cookie or `Authorization: Bearer <token>`.")
    if isinstance(error, exceptions.PermissionDenied):
        return Forbidden(str(error.detail))
    if isinstance(error, (OperationalError, InterfaceError)):
        return Unavailable(
            "The database does not answer right now. Nothing of this request was kept; send it "
            "again in a few seconds.",
            reason="database",
        )
    if isinstance(error, RequestDataTooBig):
        return CrewletError(
            f"The body is larger than {settings.DATA_UPLOAD_MAX_MEMORY_SIZE} bytes.",
            code=ErrorCode.TOO_LARGE,
        )
    if isinstance(error, exceptions.APIException):
        code = next(
            (code for kind, code in _DRF_CODES.items() if isinstance(error, kind)),
            ErrorCode.INTERNAL,
        )
        return CrewletError(str(error.detail), code=code)
    return None
