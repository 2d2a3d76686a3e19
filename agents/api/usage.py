"""Routes of usage: what was used, how it fell over the days, and what room is left."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from django.utils.dateparse import parse_date
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.queries import usage
from crewlet.doors.rest import ErrorAnswer, ReadView
from crewlet.kernel import clock
from crewlet.kernel.errors import CrewletError, ErrorCode
from orgs import epochs
from orgs.epochs import Snapshot

_ERRORS = {"4XX": ErrorAnswer}
_SPAN = ("days", "since", "until")


class UsageSums(serializers.Serializer[Any]):
    """Tokens of some calls. Null is unknown; it is never written as 0."""

    tokens = serializers.IntegerField(allow_null=True)
    tokens_in = serializers.IntegerField(allow_null=True)
    tokens_out = serializers.IntegerField(allow_null=True)
    cache_read = serializers.IntegerField(allow_null=True, help_text="null: nobody reported any")
    calls = serializers.IntegerField()
    unknown_calls = serializers.IntegerField(help_text="nobody knows what these used")
    estimated_calls = serializers.IntegerField(help_text="counted here: the vendor sent none")
    refused_calls = serializers.IntegerField(help_text="counted and over a ceiling")


class UsageRow(UsageSums):
    """One row of a split."""

    key = serializers.CharField(allow_blank=True)
    label = serializers.CharField()  # type: ignore[assignment]  # a field, not the caption
    share = serializers.FloatField(allow_null=True, help_text="of the span's known tokens")


class UsageSeatRow(UsageRow):
    """What one seat used."""

    turns = serializers.IntegerField()
    per_turn = serializers.IntegerField(allow_null=True)


class UsageSpan(serializers.Serializer[Any]):
    """Company days, the first and the last counted."""

    since = serializers.DateField()
    until = serializers.DateField()
    days = serializers.IntegerField()


class UsageBefore(UsageSpan):
    """As many days right before."""

    total = UsageSums()


class BreakdownShape(serializers.Serializer[Any]):
    """What a span used, by phase, model, provider entry, seat and unit."""

    span = UsageSpan()
    total = UsageSums()
    by_phase = UsageRow(many=True)
    by_model = UsageRow(many=True)
    by_provider = UsageRow(many=True)
    by_seat = UsageSeatRow(many=True)
    by_unit = UsageRow(many=True)
    previous = UsageBefore(allow_null=True, required=False)


class UsageBand(serializers.Serializer[Any]):
    """A band of the series."""

    key = serializers.CharField(allow_blank=True)
    label = serializers.CharField()  # type: ignore[assignment]  # a field, not the caption
    tokens = serializers.IntegerField(allow_null=True)
    calls = serializers.IntegerField()


class UsageBucket(serializers.Serializer[Any]):
    """One day or week of the series."""

    start = serializers.DateField()
    end = serializers.DateField()
    values = serializers.DictField(child=serializers.IntegerField(allow_null=True))
    tokens = serializers.IntegerField(allow_null=True)
    calls = serializers.IntegerField()
    unknown_calls = serializers.IntegerField()


class UsageHorizon(serializers.Serializer[Any]):
    """How far back usage is kept."""

    days = serializers.IntegerField()
    floor = serializers.DateField()


class SeriesShape(serializers.Serializer[Any]):
    """Every bucket of a span, in bands."""

    group = serializers.ChoiceField(choices=list(usage.GROUPS))
    bucket = serializers.ChoiceField(choices=list(usage.BUCKETS))
    tz = serializers.CharField()
    bands = UsageBand(many=True)
    buckets = UsageBucket(many=True)
    horizon = UsageHorizon()


def _query(name: str, kind: Any, words: str) -> OpenApiParameter:
    return OpenApiParameter(name, kind, OpenApiParameter.QUERY, description=words)


_SPAN_PARAMETERS = [
    _query("days", OpenApiTypes.INT, "1 to 90 company days that end today; 30 unless told"),
    _query("since", OpenApiTypes.DATE, "first company day, counted"),
    _query("until", OpenApiTypes.DATE, "last company day, counted; today unless told"),
]


class TokenBreakdownView(ReadView):
    """What was used, split."""

    @extend_schema(
        tags=["usage"],
        parameters=[
            *_SPAN_PARAMETERS,
            _query("previous", OpenApiTypes.BOOL, "adds the days before"),
        ],
        responses={200: BreakdownShape, **_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Shows the tokens of a span by phase, model, provider entry, seat and unit."""
        given = _given(request, (*_SPAN, "previous"))
        previous = _choice(given, "previous", ("true", "false"), "false") == "true"
        snapshot = epochs.active()
        return Response(usage.breakdown(snapshot, _span(given, snapshot), previous=previous))


class TokenSeriesView(ReadView):
    """What was used, over time."""

    @extend_schema(
        tags=["usage"],
        parameters=[
            *_SPAN_PARAMETERS,
            _query("group", OpenApiTypes.STR, "phase, model, provider, seat or unit"),
            _query("bucket", OpenApiTypes.STR, "day or week"),
        ],
        responses={200: SeriesShape, **_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Shows the tokens of every day or week of a span, in at most four bands and the rest."""
        given = _given(request, (*_SPAN, "group", "bucket"))
        group = _choice(given, "group", usage.GROUPS, "phase")
        bucket = _choice(given, "bucket", usage.BUCKETS, "day")
        snapshot = epochs.active()
        span = _span(given, snapshot)
        return Response(usage.series(snapshot, span, group=group, bucket=bucket))


def _given(request: Request, known: tuple[str, ...]) -> Mapping[str, str]:
    for key in request.query_params:
        if key not in (*known, "format"):
            words = f"There is no filter '{key}' here; there are {', '.join(sorted(known))}."
            raise _bad(key, words)
    return {key: request.query_params[key] for key in request.query_params}


def _span(given: Mapping[str, str], snapshot: Snapshot) -> usage.Span:
    days = given.get("days")
    if days is not None and not (days.isascii() and days.isdecimal()):
        raise _bad("days", f"days is a whole number from 1 to {usage.MAX_DAYS}.")
    return usage.span_of(
        snapshot,
        clock.now(),
        days=None if days is None else int(days[:9]),
        since=_day(given, "since"),
        until=_day(given, "until"),
    )


def _day(given: Mapping[str, str], name: str) -> date | None:
    text = given.get(name)
    if text is None:
        return None
    words = f"{name} is a company day, such as 2026-03-01."
    try:
        found = parse_date(text)
    except ValueError as error:
        raise _bad(name, words) from error
    if found is None:
        raise _bad(name, words)
    return found


def _choice(given: Mapping[str, str], name: str, known: tuple[str, ...], default: str) -> str:
    text = given.get(name, default)
    if text not in known:
        raise _bad(name, f"{name} knows no '{text}'; it takes {', '.join(known)}.")
    return text


def _bad(field: str, words: str) -> CrewletError:
    return CrewletError(words, code=ErrorCode.INVALID_QUERY, field=field)
