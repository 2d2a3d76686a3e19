"""What the last look at the alarms found, so that every process tells the same."""

from __future__ import annotations

from django.db import models


class AlarmState(models.Model):
    """An alarm that is active, since when, and what to do about it."""

    kind = models.CharField(max_length=64, primary_key=True)
    severity = models.CharField(max_length=16)
    measurement = models.TextField()
    remedy = models.TextField()
    since = models.DateTimeField()

    @property
    def title(self) -> str:
        """The kind as people read it."""
        return self.kind.replace("_", " ").capitalize()


class AlarmLook(models.Model):
    """When somebody last looked: one row. Without it, no alarm means nothing."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(id=1), name="alarm_look_is_single")
        ]
