"""What the nodes share about the keys to models: which of them cool, and tests asked for."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class ProviderKey(models.Model):
    """A key that failed once: how long it is left alone. The key itself is never stored.

    `digest` is the first 12 hex digits of its SHA-256. `reason` is empty once it worked again.
    `probe_until` is set while one call tries whether a cooled key works.
    """

    id = models.BigAutoField(primary_key=True)
    provider = models.CharField(max_length=64)
    digest = models.CharField(max_length=12)
    cooled_until = models.DateTimeField()
    reason = models.CharField(max_length=16, blank=True)
    consecutive_auth = models.IntegerField(default=0)
    probe_until = models.DateTimeField(null=True)
    last_error = models.TextField(blank=True)
    failed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["provider", "digest"], name="provider_key_once")
        ]


class ProviderTest(models.Model):
    """A wish to ask a provider for one word, and what came of it; one row a provider."""

    id = models.UUIDField(primary_key=True, default=new_id)
    provider = models.CharField(max_length=64, unique=True)
    state = models.CharField(max_length=8, default="pending")  # pending, running, done
    asked_by = models.CharField(max_length=200)
    asked_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True)
    ok = models.BooleanField(default=False)
    said = models.TextField(blank=True)
    ms = models.IntegerField(null=True)
