"""People and their credentials."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from crewlet.kernel.ids import new_id


class PersonStage(models.TextChoices):
    """Where a person stands; only an active one acts."""

    INVITED = "invited", "Invited"
    ACTIVE = "active", "Active"
    SUSPENDED = "suspended", "Suspended"


class Person(models.Model):
    """Somebody who signs in. A seat gives no grant, and a grant gives no seat."""

    id = models.UUIDField(primary_key=True, default=new_id)
    login = models.CharField(max_length=64, unique=True)
    name = models.CharField(max_length=200)
    stage = models.CharField(
        max_length=10, choices=PersonStage.choices, default=PersonStage.INVITED
    )
    grants = ArrayField(models.CharField(max_length=32), default=list)
    seat = models.OneToOneField(
        "orgs.Seat", null=True, on_delete=models.PROTECT, related_name="person"
    )
    password = models.CharField(max_length=256, blank=True)
    revocation_epoch = models.IntegerField(default=0)
    created_at = models.DateTimeField()
    last_seen_at = models.DateTimeField(null=True)

    def __str__(self) -> str:
        return self.login


class CredentialKind(models.TextChoices):
    """What proves who somebody is."""

    LINK = "link", "One-time sign-in link"
    TOKEN = "token", "Bearer token"


class Credential(models.Model):
    """A hashed proof: a one-time link or a bearer token. The value itself is shown once."""

    id = models.UUIDField(primary_key=True, default=new_id)
    kind = models.CharField(max_length=8, choices=CredentialKind.choices)
    label = models.CharField(max_length=128, blank=True)
    person = models.ForeignKey(
        Person, null=True, on_delete=models.CASCADE, related_name="credentials"
    )
    digest = models.CharField(max_length=64, unique=True)
    grants = ArrayField(models.CharField(max_length=32), default=list)
    created_at = models.DateTimeField()
    created_by = models.CharField(max_length=128)
    expires_at = models.DateTimeField(null=True)
    used_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)


class SessionRecord(models.Model):
    """One signed-in browser of a person."""

    id = models.UUIDField(primary_key=True, default=new_id)
    person = models.ForeignKey(Person, on_delete=models.CASCADE, related_name="sessions")
    epoch = models.IntegerField()
    started_at = models.DateTimeField()
    seen_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    source = models.CharField(max_length=64, blank=True)
    agent = models.CharField(max_length=200, blank=True)

    class Meta:
        indexes = [models.Index(fields=["person", "-started_at"], name="session_person")]


class SignInTally(models.Model):
    """How often a source tried to sign in during one minute. What was typed is not kept."""

    source = models.CharField(max_length=64)
    minute = models.DateTimeField()
    tries = models.IntegerField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["source", "minute"], name="sign_in_tally_minute")
        ]
