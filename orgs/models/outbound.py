"""What leaves for people by e-mail, and how each of them wants it."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class EmailLevel(models.TextChoices):
    """How much of the inbox follows a person out of it."""

    OFF = "off", "Nothing"
    DECISIONS = "decisions", "What waits for me"
    ALL = "all", "What waits for me, and news that counts"


class EmailChoice(models.Model):
    """A person's choice. Without a row: decisions, to the address of their seat."""

    person = models.OneToOneField(
        "orgs.Person", primary_key=True, on_delete=models.CASCADE, related_name="email_choice"
    )
    level = models.CharField(
        max_length=10, choices=EmailLevel.choices, default=EmailLevel.DECISIONS
    )
    address = models.CharField(max_length=254, blank=True)
    since = models.DateTimeField()


class OutboundState(models.TextChoices):
    """Where a message stands."""

    WAITING = "waiting", "Waiting to be sent"
    SENDING = "sending", "In the hands of a worker"
    SENT = "sent", "Taken by the mail server"
    MOOT = "moot", "Dealt with before it left"
    DEAD = "dead", "Given up"


class OutboundMail(models.Model):
    """One row of a person's inbox on its way out. What it says is read when it leaves."""

    id = models.UUIDField(primary_key=True, default=new_id)
    person = models.ForeignKey("orgs.Person", on_delete=models.CASCADE, related_name="outbound")
    ref = models.CharField(max_length=160)
    state = models.CharField(
        max_length=8, choices=OutboundState.choices, default=OutboundState.WAITING
    )
    attempts = models.IntegerField(default=0)
    due_at = models.DateTimeField()
    error = models.CharField(max_length=300, blank=True)
    created_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["person", "ref"], name="outbound_person_ref")
        ]
        indexes = [
            models.Index(
                fields=["due_at"],
                condition=models.Q(state__in=["waiting", "sending"]),
                name="outbound_due",
            )
        ]
