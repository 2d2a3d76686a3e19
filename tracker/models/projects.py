"""Projects, as the org chart declares them, and the keys that resolve for ever."""

from __future__ import annotations

from django.db import models

from crewlet.kernel.ids import new_id


class Project(models.Model):
    """Where items are filed. Name, purpose and owner follow the chart and nothing else edits them.

    A project whose owner left the chart stays, with its work; `left_chart_at` says since when. An
    archived one is read, and takes neither a new item nor a file.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    key = models.CharField(max_length=10, unique=True)
    name = models.CharField(max_length=200)
    purpose = models.TextField(blank=True)
    unit_key = models.CharField(max_length=64, blank=True)
    unit_name = models.CharField(max_length=200, blank=True)
    owner_seat = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.PROTECT, related_name="+"
    )
    lead = models.ForeignKey("orgs.Seat", null=True, on_delete=models.PROTECT, related_name="+")
    default_assignee = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.PROTECT, related_name="+"
    )
    next_number = models.BigIntegerField(default=1)
    left_chart_at = models.DateTimeField(null=True)
    archived_at = models.DateTimeField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    version = models.IntegerField(default=1)

    def __str__(self) -> str:
        return self.key


class ProjectTally(models.Model):
    """How many items of a project stand in each group, and the newest entry of its history.

    A row of its own, because it is written last in a transaction, while the project's row is locked
    first. A project that was never used has none. `tracker.counts` alone writes here.
    """

    project = models.OneToOneField(
        Project, primary_key=True, on_delete=models.CASCADE, related_name="tally"
    )
    todo = models.IntegerField(default=0)
    active = models.IntegerField(default=0)
    done = models.IntegerField(default=0)
    closed = models.IntegerField(default=0)
    last_change_at = models.DateTimeField(null=True)
    last_actor = models.CharField(max_length=128, blank=True)
    last_actor_name = models.CharField(max_length=200, blank=True)
    last_actor_kind = models.CharField(max_length=10, blank=True)  # agent, human, operator, system


class ItemKey(models.Model):
    """A key that an item has or had, never given to another item; `item` is null after a purge."""

    key = models.CharField(max_length=32, primary_key=True)
    item = models.ForeignKey(
        "tracker.WorkItem", null=True, on_delete=models.SET_NULL, related_name="keys"
    )
    current = models.BooleanField(default=True)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["item"], condition=models.Q(current=True), name="item_key_one_current"
            )
        ]
