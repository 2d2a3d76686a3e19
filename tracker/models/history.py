"""The history: one row for every change, in one order for the whole company."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class ChangeCounter(models.Model):
    """The one row whose lock orders history. It is taken last, just before the commit, so that a
    reader of `seq > n` never misses a row that commits late.
    """

    id = models.SmallIntegerField(primary_key=True, default=1)
    value = models.BigIntegerField(default=0)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="change_counter_is_single")
        ]


class Change(models.Model):
    """What one write changed: who, on what, from what to what, and who was told."""

    id = models.UUIDField(primary_key=True, default=new_id)
    seq = models.BigIntegerField(unique=True)
    project = models.ForeignKey("tracker.Project", on_delete=models.PROTECT, related_name="changes")
    item = models.ForeignKey(
        "tracker.WorkItem", null=True, on_delete=models.CASCADE, related_name="changes"
    )
    comment = models.ForeignKey(
        "tracker.Comment", null=True, on_delete=models.CASCADE, related_name="+"
    )
    kind = models.CharField(max_length=20)
    actor = models.CharField(max_length=128)
    actor_name = models.CharField(max_length=200)
    actor_kind = models.CharField(max_length=10)  # agent, human, operator, system
    seat = models.ForeignKey("orgs.Seat", null=True, on_delete=models.PROTECT, related_name="+")
    turn_id = models.UUIDField(null=True)
    fields = models.JSONField(default=dict)  # name → {from, to}, raw values; a text as its size
    reason = models.CharField(max_length=500, blank=True)
    excerpt = models.CharField(max_length=300, blank=True)
    notified = models.JSONField(default=list)  # [{handle, reason}]
    at = models.DateTimeField()

    class Meta:
        indexes = [
            models.Index(fields=["item", "-seq"], name="change_item"),
            models.Index(fields=["project", "-seq"], name="change_project"),
        ]
