"""Mail: what waits for a seat, what is done with, what could not be done."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class Lane(models.TextChoices):
    """Lanes do not wait for each other."""

    INBOX = "inbox", "Inbox"
    CONTROL = "control", "Control"


class Delivery(models.Model):
    """Mail that waits for a seat. A row lives until a turn has finished with it, and no longer.

    `turn` is set while a turn has claimed it.
    """

    seq = models.BigAutoField(primary_key=True)
    seat = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="mail")
    event_id = models.UUIDField()
    kind = models.CharField(max_length=40)
    source = models.CharField(max_length=40)
    turn = models.ForeignKey(
        "agents.Turn", null=True, on_delete=models.SET_NULL, related_name="mail"
    )
    lane = models.CharField(max_length=8, choices=Lane.choices, default=Lane.INBOX)
    batch_key = models.CharField(max_length=200)
    conversation = models.CharField(max_length=200)
    event_ts = models.DateTimeField()
    payload = models.JSONField()
    reply_kind = models.CharField(max_length=8)
    reply_surface = models.CharField(max_length=40, blank=True)
    work_item = models.JSONField(null=True)
    trace = models.CharField(max_length=64, blank=True)
    parent_turn = models.UUIDField(null=True)
    depth = models.IntegerField(default=0)
    chain = models.JSONField(default=list)
    agent_caused = models.BooleanField(default=False)
    attempts = models.IntegerField(default=0)
    not_before = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["seat", "event_id"], name="delivery_once"),
            models.CheckConstraint(
                condition=models.Q(reply_kind__in=["none", "tool", "engine"]),
                name="delivery_reply_kind",
            ),
        ]
        indexes = [models.Index(fields=["seat", "lane", "event_ts"], name="delivery_seat_lane_ts")]


class Completion(models.Model):
    """An event that a seat has finished with; a second delivery of it is dropped. Kept 30 days."""

    id = models.BigAutoField(primary_key=True)
    seat = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="completions")
    event_id = models.UUIDField()
    work_key = models.CharField(max_length=80)
    turn_id = models.UUIDField()
    lease_epoch = models.BigIntegerField(default=0)
    outcome = models.CharField(max_length=12)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["seat", "event_id"], name="completion_once")]
        indexes = [models.Index(fields=["at"], name="completion_at")]


class DeadLetter(models.Model):
    """Mail that could not be worked; it stays until a person replays or discards it."""

    id = models.UUIDField(primary_key=True, default=new_id)
    seat = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="dead_letters")
    event_id = models.UUIDField()
    mail = models.JSONField()
    attempts = models.IntegerField()
    error = models.TextField()
    at = models.DateTimeField()
    handled_at = models.DateTimeField(null=True)
    handled_by = models.CharField(max_length=128, blank=True)
    handled_how = models.CharField(max_length=12, blank=True)
