"""Units and seats: a projection of the document, matched by identity and never deleted."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class SeatKind(models.TextChoices):
    """Who holds a seat."""

    AGENT = "agent", "Agent"
    HUMAN = "human", "Person"


class Unit(models.Model):
    """A team of the chart."""

    id = models.UUIDField(primary_key=True, default=new_id)
    key = models.CharField(max_length=64)
    origin_key = models.CharField(max_length=64)
    name = models.CharField(max_length=200)
    type = models.CharField(max_length=40, default="team")
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    position = models.IntegerField(default=0)
    lead_handle = models.CharField(max_length=64, blank=True)
    effective_lead = models.ForeignKey(
        "Seat", null=True, on_delete=models.PROTECT, related_name="leads_units"
    )
    channel = models.CharField(max_length=128, blank=True)
    project = models.CharField(max_length=10, blank=True)
    space = models.CharField(max_length=64, blank=True)
    removed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["key"], condition=models.Q(removed_at=None), name="unit_key_live"
            )
        ]


class Seat(models.Model):
    """A place in the company, held by an agent or a person. Its primary key is stable for ever."""

    id = models.UUIDField(primary_key=True, default=new_id)
    handle = models.CharField(max_length=64)
    origin_handle = models.CharField(max_length=64)
    agent_id = models.UUIDField(null=True)
    name = models.CharField(max_length=200)
    kind = models.CharField(max_length=8, choices=SeatKind.choices)
    unit = models.ForeignKey(Unit, null=True, on_delete=models.PROTECT, related_name="seats")
    declared_at_root = models.BooleanField(default=False)
    position = models.IntegerField(default=0)
    email_norm = models.CharField(max_length=254, blank=True)
    primary_manager = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="primary_reports"
    )
    chain_hash = models.CharField(max_length=64, blank=True)
    removed_at = models.DateTimeField(null=True)
    mailbox_retire_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["handle"], condition=models.Q(removed_at=None), name="seat_handle_live"
            )
        ]

    def __str__(self) -> str:
        return self.handle
