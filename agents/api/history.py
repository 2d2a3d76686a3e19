"""Routes of what was: phases, events by hour and day, turns by seat and day."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.asked import (
    ERRORS,
    bad,
    flag,
    instant,
    number,
    one_of,
    only,
    parameter,
    uuid,
)
from agents.queries import history
from crewlet.doors.rest import ReadView, actor_of
from crewlet.kernel import clock
from orgs import epochs

PHASES = ("execute", "review", "judge", "onboard", "worker")
OUTCOMES = ("completed", "failed", "skipped", "stopped")
MAX_DAYS = 90


class PhaseShape(serializers.Serializer[Any]):
    """A phase as a list shows it."""

    id = serializers.UUIDField()
    turn_id = serializers.UUIDField()
    seat = serializers.CharField(help_text="the handle")
    work_item = serializers.CharField(allow_null=True)
    phase = serializers.CharField()
    iteration = serializers.IntegerField()
    status = serializers.CharField()
    model = serializers.CharField(allow_blank=True)
    rounds = serializers.IntegerField()
    max_rounds = serializers.IntegerField()
    tokens = serializers.IntegerField()
    error_kind = serializers.CharField(allow_blank=True)
    error = serializers.CharField(allow_blank=True)
    started_at = serializers.DateTimeField()
    ended_at = serializers.DateTimeField(allow_null=True)
    secs = serializers.IntegerField()


class PhasesShape(serializers.Serializer[Any]):
    """A page of phases, newest first."""

    phases = PhaseShape(many=True)
    next_cursor = serializers.CharField(allow_null=True)


class BucketShape(serializers.Serializer[Any]):
    """One hour or one company day."""

    at = serializers.DateTimeField()
    count = serializers.IntegerField()
    failed = serializers.IntegerField()


class EventsSeriesShape(serializers.Serializer[Any]):
    """Events counted by hour or day, empty ones too."""

    bucket = serializers.ChoiceField(choices=["hour", "day"])
    buckets = BucketShape(many=True)


class TurnBucketShape(serializers.Serializer[Any]):
    """How the turns of one hour or one company day ended."""

    at = serializers.DateTimeField()
    completed = serializers.IntegerField(help_text="in the first pass")
    sent_back = serializers.IntegerField(help_text="completed in a later pass")
    failed = serializers.IntegerField()
    skipped = serializers.IntegerField(help_text="nothing was to do")
    stopped = serializers.IntegerField()


class TurnsSeriesShape(serializers.Serializer[Any]):
    """Ended turns counted by hour or day, empty ones too."""

    bucket = serializers.ChoiceField(choices=["hour", "day"])
    buckets = TurnBucketShape(many=True)


class SeatDayShape(serializers.Serializer[Any]):
    """What one seat did on one company day."""

    seat = serializers.CharField(help_text="the handle")
    date = serializers.DateField()
    turns = serializers.IntegerField()
    failed = serializers.IntegerField()
    tokens = serializers.IntegerField()


class ActivityShape(serializers.Serializer[Any]):
    """Ended turns by seat and company day; days without a turn are left out."""

    days = serializers.IntegerField()
    rows = SeatDayShape(many=True)


class PhasesView(ReadView):
    """Phases, newest first."""

    @extend_schema(
        tags=["turns"],
        parameters=[
            parameter("seat", words="handle"),
            parameter("turn", OpenApiTypes.UUID),
            parameter("phase", words=", ".join(PHASES)),
            parameter("failed", OpenApiTypes.BOOL),
            parameter("cursor"),
            parameter("limit", OpenApiTypes.INT, "at most 60"),
        ],
        responses={200: PhasesShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Lists phases without their prompts."""
        known = frozenset({"seat", "turn", "phase", "failed", "cursor", "limit"})
        given = only(request, known)
        page = history.phases(
            actor_of(request),
            seat=given.get("seat", ""),
            turn=uuid(given, "turn"),
            phase=one_of(given, "phase", PHASES),
            failed=flag(given, "failed"),
            cursor=given.get("cursor", ""),
            limit=number(given, "limit", history.MAX_PHASES),
        )
        rows = [row | {"seat": row["seat"]["handle"]} for row in page["phases"]]
        return Response(page | {"phases": rows})


class EventsSeriesView(ReadView):
    """Events by hour or day."""

    @extend_schema(
        tags=["events"],
        parameters=[
            parameter("bucket", words="hour (the default) or day"),
            parameter("since", OpenApiTypes.DATETIME, "a day ago for hours, 30 days for days"),
            parameter("until", OpenApiTypes.DATETIME),
        ],
        responses={200: EventsSeriesShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Counts events by hour or company day, at most 744 of them."""
        given = only(request, frozenset({"bucket", "since", "until"}))
        bucket, since, until = _span(given)
        buckets = history.events_series(
            actor_of(request), bucket=bucket, since=since, until=until,
            zone=epochs.active().timezone,
        )  # fmt: skip
        return Response({"bucket": bucket, "buckets": buckets})


def _span(given: Mapping[str, str]) -> tuple[str, datetime, datetime]:
    """Returns the bucket and the instants of a series, within what one answer may hold."""
    bucket = one_of(given, "bucket", ("hour", "day")) or "hour"
    until = instant(given, "until") or clock.now()
    span = timedelta(hours=24) if bucket == "hour" else timedelta(days=30)
    since = instant(given, "since") or until - span
    step = timedelta(hours=1) if bucket == "hour" else timedelta(days=1)
    if since >= until or (until - since) / step > history.MAX_BUCKETS:
        raise bad("since", f"since is before until, by at most {history.MAX_BUCKETS} buckets.")
    return bucket, since, until


class TurnsSeriesView(ReadView):
    """Ended turns by hour or day."""

    @extend_schema(
        tags=["turns"],
        parameters=[
            parameter("bucket", words="hour (the default) or day"),
            parameter("since", OpenApiTypes.DATETIME, "a day ago for hours, 30 days for days"),
            parameter("until", OpenApiTypes.DATETIME),
            parameter("seat", words="handle"),
            parameter("outcome", words=", ".join(OUTCOMES)),
            parameter("failed", OpenApiTypes.BOOL),
        ],
        responses={200: TurnsSeriesShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Counts ended turns by hour or company day, at most 744 of them."""
        known = frozenset({"bucket", "since", "until", "seat", "outcome", "failed"})
        given = only(request, known)
        bucket, since, until = _span(given)
        buckets = history.turns_series(
            actor_of(request), bucket=bucket, since=since, until=until,
            zone=epochs.active().timezone, seat=given.get("seat", ""),
            outcome=one_of(given, "outcome", OUTCOMES), failed=flag(given, "failed"),
        )  # fmt: skip
        return Response({"bucket": bucket, "buckets": buckets})


class ActivityView(ReadView):
    """What every seat did, day by day."""

    @extend_schema(
        tags=["agents"],
        parameters=[parameter("days", OpenApiTypes.INT, "1 to 90, 7 unless given")],
        responses={200: ActivityShape, **ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Counts the ended turns of every seat by company day."""
        given = only(request, frozenset({"days"}))
        days = number(given, "days", 7)
        if days > MAX_DAYS:
            raise bad("days", f"days is at most {MAX_DAYS}.")
        zone = epochs.active().timezone
        return Response(
            {"days": days, "rows": history.activity(actor_of(request), days=days, zone=zone)}
        )
