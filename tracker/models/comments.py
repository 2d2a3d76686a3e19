"""Talk on an item: comments, asks and their answers."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from crewlet.kernel.ids import new_id


class CommentKind(models.TextChoices):
    """Who speaks: somebody, or the engine about the item."""

    COMMENT = "comment", "Comment"
    SYSTEM = "system", "Note of the engine"


class Comment(models.Model):
    """Something said on an item. An ask names who is to answer; an answer names its ask.

    `decision` never changes once stored. `answered_at` is set under the item's lock together with
    the one comment that `answers` it.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    item = models.ForeignKey("tracker.WorkItem", on_delete=models.CASCADE, related_name="comments")
    kind = models.CharField(max_length=8, choices=CommentKind.choices, default=CommentKind.COMMENT)
    author = models.CharField(max_length=128)
    author_name = models.CharField(max_length=200)
    author_kind = models.CharField(max_length=10)  # agent, human, operator, system
    author_seat = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.PROTECT, related_name="+"
    )
    author_person = models.ForeignKey(
        "orgs.Person", null=True, on_delete=models.PROTECT, related_name="+"
    )
    credential = models.CharField(max_length=128, blank=True)
    turn_id = models.UUIDField(null=True)
    body = models.TextField()
    reply_to = models.ForeignKey(
        "self", null=True, on_delete=models.PROTECT, related_name="replies"
    )
    mentions = ArrayField(models.CharField(max_length=64), default=list)
    asked = models.ForeignKey("orgs.Seat", null=True, on_delete=models.PROTECT, related_name="asks")
    ask_handle = models.CharField(max_length=64, blank=True)
    decision = models.JSONField(null=True)
    answers = models.OneToOneField(
        "self", null=True, on_delete=models.PROTECT, related_name="answer"
    )
    choice = models.CharField(max_length=32, blank=True)
    answered_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(decision=None) | models.Q(asked__isnull=False),
                name="comment_decision_asks_somebody",
            )
        ]
        indexes = [
            models.Index(fields=["item", "created_at"], name="comment_item"),
            models.Index(
                fields=["asked", "created_at"],
                name="comment_open_asks",
                condition=models.Q(asked__isnull=False, answered_at=None),
            ),
            models.Index(
                fields=["item"],
                name="comment_item_asks",
                condition=models.Q(asked__isnull=False),
            ),
        ]
