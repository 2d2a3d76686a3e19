"""Files of projects and of items: rows that name stored bytes."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class StoredFile(models.Model):
    """What every row that names stored bytes holds: which bytes, and who put them there."""

    id = models.UUIDField(primary_key=True, default=new_id)
    key = models.CharField(max_length=32)
    sha256 = models.CharField(max_length=64)
    size = models.BigIntegerField()
    content_type = models.CharField(max_length=127)
    author = models.CharField(max_length=128)
    author_name = models.CharField(max_length=200)
    author_kind = models.CharField(max_length=10)  # agent, human, operator, system
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True)

    class Meta:
        abstract = True


class ProjectFile(StoredFile):
    """A file of a project at a path. A write replaces the bytes and raises the version."""

    project = models.ForeignKey("tracker.Project", on_delete=models.PROTECT, related_name="files")
    path = models.TextField(db_collation="C")
    version = models.IntegerField(default=1)
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["project", "path"],
                condition=models.Q(removed_at=None),
                name="project_file_one_live",
            )
        ]


class Attachment(StoredFile):
    """A file on an item, or on one of its comments."""

    item = models.ForeignKey(
        "tracker.WorkItem", on_delete=models.CASCADE, related_name="attachments"
    )
    comment = models.ForeignKey(
        "tracker.Comment", null=True, on_delete=models.CASCADE, related_name="attachments"
    )
    name = models.CharField(max_length=255)

    class Meta:
        indexes = [models.Index(fields=["item", "created_at"], name="attachment_item")]
