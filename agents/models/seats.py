"""Nodes, leases and holds: Redis makes a grip quick, these rows make it safe."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from crewlet.kernel.ids import new_id


class Node(models.Model):
    """One incarnation of a worker process. Expiry is judged by the database clock only."""

    id = models.CharField(max_length=120, primary_key=True)  # node_id:random, minted at boot
    node_id = models.CharField(max_length=80)
    roles = ArrayField(models.CharField(max_length=16), default=list)
    labels = models.JSONField(default=dict)
    version = models.CharField(max_length=40, blank=True)
    protocol = models.IntegerField(default=1)
    capacity = models.IntegerField(default=32)
    in_flight = models.IntegerField(default=0)
    started_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    draining_at = models.DateTimeField(null=True)
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["node_id"], condition=models.Q(ended_at=None), name="node_id_live"
            )
        ]


class SeatLease(models.Model):
    """A worker's grip on a seat. Changes only on acquire and release; the epoch never falls."""

    seat = models.OneToOneField(
        "orgs.Seat", primary_key=True, on_delete=models.CASCADE, related_name="lease"
    )
    epoch = models.BigIntegerField(default=0)
    owner = models.ForeignKey(Node, null=True, on_delete=models.SET_NULL, related_name="leases")
    preferred_node = models.CharField(max_length=80, blank=True)
    acquired_at = models.DateTimeField(null=True)
    released_at = models.DateTimeField(null=True)
    acquire_fail = models.JSONField(default=dict)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(epoch__gte=0), name="lease_epoch_positive")
        ]


class HoldReason(models.TextChoices):
    """Why a seat's mail waits; the reasons are independent of each other."""

    SEAT_PAUSED = "seat_paused", "Paused"
    BUDGET_WINDOW = "budget_window", "Budget"
    NO_PROVIDER = "no_provider", "No model"
    CONFIG = "config", "Configuration"


class SeatHold(models.Model):
    """One reason for which a seat's mail waits. Mail flows when no row is left."""

    id = models.UUIDField(primary_key=True, default=new_id)
    seat = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="holds")
    reason = models.CharField(max_length=16, choices=HoldReason.choices)
    by = models.CharField(max_length=128)
    at = models.DateTimeField()
    until = models.DateTimeField(null=True)
    detail = models.JSONField(default=dict)
    note = models.CharField(max_length=500, blank=True)
    stop_running = models.BooleanField(default=False)
    version = models.IntegerField(default=1)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["seat", "reason"], name="hold_once")]
