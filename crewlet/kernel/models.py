"""Tables of the ground floor: operations, audit, events, the drain mark."""

from __future__ import annotations

from typing import Any

from django.db import models
from django.db.models import Func

from crewlet.kernel.ids import new_id


class Xid8Field(models.BigIntegerField):  # type: ignore[type-arg]
    """The transaction that wrote a row, filled by the database to compare with its horizon."""

    def db_type(self, connection: Any) -> str:
        return "xid8"


class CurrentXid(Func):
    """`pg_current_xact_id()`."""

    function = "pg_current_xact_id"
    output_field = Xid8Field()


class Operation(models.Model):
    """One landing of a write. The key is claimed before the effect, in the effect's transaction."""

    key = models.CharField(max_length=200, primary_key=True)
    scope = models.CharField(max_length=80, blank=True)
    action = models.CharField(max_length=64)
    digest = models.CharField(max_length=64)
    outcome = models.JSONField(null=True)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["scope"], name="operation_scope", condition=~models.Q(scope="")),
            models.Index(fields=["expires_at"], name="operation_expiry"),
        ]


class AuditEntry(models.Model):
    """Who did what, by which door and with what credential. Append-only."""

    id = models.UUIDField(primary_key=True, default=new_id)
    at = models.DateTimeField()
    actor = models.CharField(max_length=128)
    actor_kind = models.CharField(max_length=16)
    credential = models.CharField(max_length=128, blank=True)
    action = models.CharField(max_length=64)
    door = models.CharField(max_length=16)
    refs = models.JSONField(default=list)
    summary = models.CharField(max_length=500)
    operation = models.CharField(max_length=200, blank=True)
    turn_id = models.UUIDField(null=True)
    refused = models.CharField(max_length=40, blank=True)

    class Meta:
        indexes = [models.Index(fields=["-at"], name="audit_at")]


class EngineEvent(models.Model):
    """A fact that happened and is told after commit. `xid` places it below the safe horizon."""

    id = models.UUIDField(primary_key=True, default=new_id)
    ts = models.DateTimeField()
    xid = Xid8Field(db_default=CurrentXid())
    type = models.CharField(max_length=48)
    category = models.CharField(max_length=16)
    actor = models.CharField(max_length=128, blank=True)
    seat_id = models.UUIDField(null=True)
    turn_id = models.UUIDField(null=True)
    work_key = models.CharField(max_length=80, blank=True)
    trace_id = models.CharField(max_length=32, blank=True)
    summary = models.CharField(max_length=500)
    failed = models.BooleanField(default=False)
    topics = models.JSONField(default=list)
    payload = models.JSONField(default=dict)

    class Meta:
        indexes = [
            models.Index(fields=["-ts", "-id"], name="event_ts"),
            models.Index(fields=["seat_id", "-ts"], name="event_seat_ts"),
            models.Index(fields=["turn_id", "ts"], name="event_turn_ts"),
            models.Index(fields=["category", "-ts"], name="event_category_ts"),
            models.Index(
                fields=["trace_id", "ts"], name="event_trace_ts", condition=~models.Q(trace_id="")
            ),
            models.Index(fields=["xid"], name="event_xid"),
        ]


class DrainMark(models.Model):
    """The one row that says the engine is stopping: reads stay, new work answers 503."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    by = models.CharField(max_length=128)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="drain_mark_is_single")
        ]
