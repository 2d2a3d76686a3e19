"""The company document as stored: revisions never change, an activation's id is the epoch."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from django.db import models

from crewlet.kernel.ids import new_id

if TYPE_CHECKING:
    _TextOfAnything = models.TextField[Any, Any]
else:
    _TextOfAnything = models.TextField


class DocumentField(_TextOfAnything):
    """A document as JSON text: jsonb would lose the order in which its keys were written."""

    if TYPE_CHECKING:
        _pyi_private_set_type: Any
        _pyi_private_get_type: Any

    def from_db_value(self, value: str | None, *_: Any) -> Any:
        return None if value is None else json.loads(value)

    def get_prep_value(self, value: Any) -> str | None:
        return None if value is None else json.dumps(value, ensure_ascii=False)


class ConfigRevision(models.Model):
    """One immutable version of the company document."""

    id = models.UUIDField(primary_key=True, default=new_id)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="+")
    payload = DocumentField()
    sha256 = models.CharField(max_length=64)
    source = models.CharField(max_length=16)  # api, file, admin, builder, setup, revert
    summary = models.CharField(max_length=500)
    write_id = models.CharField(max_length=200, null=True, unique=True)
    author = models.CharField(max_length=128)
    author_kind = models.CharField(max_length=16)
    credential = models.CharField(max_length=128, blank=True)
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["-created_at"], name="revision_created")]


class Activation(models.Model):
    """One moment at which a revision became the running company. `id` is the epoch."""

    id = models.BigAutoField(primary_key=True)
    revision = models.ForeignKey(
        ConfigRevision, on_delete=models.PROTECT, related_name="activations"
    )
    reason = models.CharField(max_length=40)  # applied, reload, revert
    author = models.CharField(max_length=128)
    at = models.DateTimeField()
    # The seats of this epoch by handle: a turn that pinned it still finds a seat renamed since.
    seat_ids = models.JSONField(default=dict)


class Company(models.Model):
    """The single row whose lock orders every apply."""

    id = models.SmallIntegerField(primary_key=True, default=1)
    name = models.CharField(max_length=200)
    origin_name = models.CharField(max_length=200)
    active_revision = models.ForeignKey(
        ConfigRevision, null=True, on_delete=models.PROTECT, related_name="+"
    )

    class Meta:
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="company_is_single")]
