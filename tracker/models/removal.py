"""What is left of a purged item: that its key was used, by whom it was purged, and why."""

from __future__ import annotations

from django.db import models


class Tombstone(models.Model):
    """A key whose item was purged. Who asks for it hears of that instead of "no such item"."""

    key = models.CharField(max_length=32, primary_key=True)
    project = models.ForeignKey(
        "tracker.Project", on_delete=models.PROTECT, related_name="tombstones"
    )
    purged_at = models.DateTimeField()
    purged_by = models.CharField(max_length=200)
    reason = models.CharField(max_length=500)

    def __str__(self) -> str:
        return self.key
