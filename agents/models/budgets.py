"""Tokens: what every model call used, and the windows it was charged to."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class LlmCall(models.Model):
    """The charge row of one model call, auxiliary ones included."""

    id = models.UUIDField(primary_key=True, default=new_id)
    ts = models.DateTimeField()
    day = models.DateField()  # on the company clock
    seat = models.ForeignKey("orgs.Seat", null=True, on_delete=models.PROTECT, related_name="+")
    turn_id = models.UUIDField(null=True)
    phase = models.CharField(max_length=12, blank=True)
    stage = models.CharField(max_length=12, default="turn")
    purpose = models.CharField(max_length=32, blank=True)
    model = models.CharField(max_length=128)
    provider_entry = models.CharField(max_length=64)
    tokens_in = models.IntegerField()
    tokens_out = models.IntegerField()
    cache_read = models.IntegerField(null=True)
    cache_write = models.IntegerField(null=True)
    refused = models.BooleanField(default=False)
    estimated = models.BooleanField(default=False)
    unobserved = models.BooleanField(default=False)

    class Meta:
        indexes = [
            models.Index(fields=["day", "seat"], name="llm_call_day_seat"),
            models.Index(fields=["turn_id"], name="llm_call_turn"),
        ]


class BudgetWindow(models.Model):
    """Tokens used in one window: `scope` is `company` or `seat:<id>`, `kind` day, week or month."""

    id = models.BigAutoField(primary_key=True)
    scope = models.CharField(max_length=64)
    kind = models.CharField(max_length=8)
    starts_on = models.DateField()
    ends_at = models.DateTimeField()
    used = models.BigIntegerField(default=0)
    refused_at = models.DateTimeField(null=True)
    tz = models.CharField(max_length=64)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["scope", "kind", "starts_on"], name="window_once")
        ]
