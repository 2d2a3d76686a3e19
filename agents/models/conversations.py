"""What a seat remembers of a conversation between its turns."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class ConversationEntry(models.Model):
    """What one unit of work was asked and what became of it; a re-run leaves one entry."""

    id = models.UUIDField(primary_key=True, default=new_id)
    seat = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="conversations")
    conversation = models.CharField(max_length=200)
    work_key = models.CharField(max_length=80)
    turn_id = models.UUIDField()
    entry = models.JSONField()  # {trigger, calls, reply or unsent, completed_work, …}
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["seat", "conversation", "work_key"], name="conversation_entry_once"
            )
        ]
        indexes = [
            models.Index(fields=["seat", "conversation", "-at"], name="conversation_newest"),
            models.Index(fields=["at"], name="conversation_at"),
        ]
