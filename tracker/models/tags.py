"""Tags: the words a project sorts its items by. The slug is for ever, the label can be renamed."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class Tag(models.Model):
    """A tag that a project declared. Items hold its slug, so that a new label is theirs at once.

    `folded` is the label without case and doubled spaces: two tags of a project never share it.
    An archived tag stays on the items that have it and goes on no other.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    project = models.ForeignKey("tracker.Project", on_delete=models.CASCADE, related_name="tags")
    slug = models.CharField(max_length=64)
    label = models.CharField(max_length=64)
    folded = models.CharField(max_length=200)
    author = models.CharField(max_length=128)
    created_at = models.DateTimeField()
    archived_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "slug"], name="tag_slug_once"),
            models.UniqueConstraint(fields=["project", "folded"], name="tag_label_once"),
        ]

    def __str__(self) -> str:
        return self.slug
