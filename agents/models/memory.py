"""What a seat remembers of itself."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class DiaryEntry(models.Model):
    """A note a seat left for itself, word for word. No tool reads another seat's; people may."""

    id = models.UUIDField(primary_key=True, default=new_id)
    seat = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="diary")
    kind = models.CharField(max_length=5)  # long, short
    content = models.TextField()
    digest = models.CharField(max_length=64)
    turn_id = models.UUIDField(null=True)
    at = models.DateTimeField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [models.Index(fields=["seat", "-at"], name="diary_seat_at")]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(kind="long", expires_at=None)
                | models.Q(kind="short", expires_at__isnull=False),
                name="diary_short_expires",
            )
        ]
