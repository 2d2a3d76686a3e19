"""Asks between agent seats: one ask, one answer, then the channel is closed."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class A2AChannel(models.Model):
    """One ask of a colleague.

    | state | means | left to |
    |---|---|---|
    | open | asked, not answered | answered, expired |
    | answered | the one answer is in | nothing |
    | expired | swept without an answer; the asker was told | nothing |
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    requester = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="+")
    target = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="+")
    state = models.CharField(max_length=10, default="open")
    work_item = models.JSONField(null=True)
    request_turn = models.UUIDField(null=True)
    target_turn = models.UUIDField(null=True)
    target_started_at = models.DateTimeField(null=True)
    opened_at = models.DateTimeField()
    closed_at = models.DateTimeField(null=True)

    class Meta:
        indexes = [
            models.Index(fields=["opened_at"], name="a2a_open", condition=models.Q(state="open"))
        ]


class A2AMessage(models.Model):
    """A brief or its answer."""

    id = models.UUIDField(primary_key=True, default=new_id)
    channel = models.ForeignKey(A2AChannel, on_delete=models.CASCADE, related_name="messages")
    kind = models.CharField(max_length=6)  # ask, answer
    author = models.ForeignKey("orgs.Seat", on_delete=models.CASCADE, related_name="+")
    body = models.TextField()
    at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["channel"], condition=models.Q(kind="answer"), name="a2a_one_answer"
            ),
            models.UniqueConstraint(
                fields=["channel"], condition=models.Q(kind="ask"), name="a2a_one_ask"
            ),
        ]
