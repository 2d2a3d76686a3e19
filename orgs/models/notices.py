"""What a person is told, and the marks they put on it."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class Notice(models.Model):
    """One thing told to the holder of a human seat (or to a person), with the reason."""

    id = models.UUIDField(primary_key=True, default=new_id)
    seat = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.CASCADE, related_name="notices"
    )
    person = models.ForeignKey(
        "orgs.Person", null=True, on_delete=models.CASCADE, related_name="notices"
    )
    event_id = models.UUIDField()
    kind = models.CharField(max_length=40)
    reason = models.CharField(max_length=40)
    primary = models.BooleanField(default=True)
    actor = models.CharField(max_length=128, blank=True)
    title = models.CharField(max_length=300)
    body = models.TextField(blank=True)
    ref = models.CharField(max_length=120, blank=True)
    at = models.DateTimeField()
    read_at = models.DateTimeField(null=True)
    snoozed_until = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["seat", "event_id"],
                condition=~models.Q(seat=None),
                name="notice_seat_event",
            ),
            models.UniqueConstraint(
                fields=["person", "event_id"],
                condition=~models.Q(person=None),
                name="notice_person_event",
            ),
            models.CheckConstraint(
                condition=models.Q(seat=None) ^ models.Q(person=None),
                name="notice_has_one_recipient",
            ),
        ]
        indexes = [
            models.Index(fields=["seat", "-at"], name="notice_seat_at"),
            models.Index(fields=["person", "-at"], name="notice_person_at"),
        ]


class InboxMark(models.Model):
    """What a person did with a waiting row of an inbox source: snoozed or set aside."""

    id = models.UUIDField(primary_key=True, default=new_id)
    login = models.CharField(max_length=128)
    ref = models.CharField(max_length=160)
    snoozed_until = models.DateTimeField(null=True)
    done_at = models.DateTimeField(null=True)
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["login", "ref"], name="inbox_mark_once")]
