"""Items, the revisions of their text, and who takes part in them."""

from __future__ import annotations

from django.contrib.postgres.fields import ArrayField
from django.db import models

from crewlet.kernel.ids import new_id


class StatusChoice(models.TextChoices):
    """The statuses of `tracker.statuses`, as the column holds them."""

    TODO = "todo", "To do"
    IN_PROGRESS = "in_progress", "In progress"
    IN_REVIEW = "in_review", "In review"
    DONE = "done", "Done"
    CANCELLED = "cancelled", "Cancelled"


class PriorityChoice(models.TextChoices):
    """The priorities of `tracker.statuses`, as the column holds them."""

    NONE = "none", "None"
    LOW = "low", "Low"
    NORMAL = "normal", "Normal"
    HIGH = "high", "High"
    URGENT = "urgent", "Urgent"


DEEPEST = 6


class WorkItem(models.Model):
    """One piece of work: what is to be done, by whom, where it stands and what it has cost.

    `version` counts edits; moving it by hand changes `rank` alone. `agent_wakes` counts wakes that
    agents caused on it since a person last touched it. `removed_with` is the removal that took it
    out of sight, the same for everything that went with it, and empty while the item is in sight.
    """

    id = models.UUIDField(primary_key=True, default=new_id)
    project = models.ForeignKey("tracker.Project", on_delete=models.PROTECT, related_name="items")
    number = models.BigIntegerField()
    key = models.CharField(max_length=32, unique=True)
    title = models.CharField(max_length=300)
    body_version = models.IntegerField(default=0)
    status = models.CharField(
        max_length=12, choices=StatusChoice.choices, default=StatusChoice.TODO
    )
    group = models.CharField(max_length=12, default="not_started")
    priority = models.CharField(
        max_length=8, choices=PriorityChoice.choices, default=PriorityChoice.NONE
    )
    assignee = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.PROTECT, related_name="assigned_items"
    )
    reporter = models.ForeignKey(
        "orgs.Seat", null=True, on_delete=models.PROTECT, related_name="reported_items"
    )
    reporter_person = models.ForeignKey(
        "orgs.Person", null=True, on_delete=models.PROTECT, related_name="reported_items"
    )
    reporter_author = models.CharField(max_length=128)
    reporter_name = models.CharField(max_length=200)
    parent = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="children")
    root = models.ForeignKey("self", null=True, on_delete=models.PROTECT, related_name="tree")
    depth = models.SmallIntegerField(default=1)
    due_at = models.DateTimeField(null=True)
    due_all_day = models.BooleanField(default=False)
    tags = ArrayField(models.CharField(max_length=64), default=list)
    rank = models.TextField(db_collation="C")
    turns = models.IntegerField(default=0)
    tokens_in = models.BigIntegerField(default=0)
    tokens_out = models.BigIntegerField(default=0)
    agent_wakes = models.SmallIntegerField(default=0)
    wakes_stopped_at = models.DateTimeField(null=True)
    status_entered_at = models.DateTimeField()
    finished_at = models.DateTimeField(null=True)
    removed_at = models.DateTimeField(null=True)
    removed_by = models.CharField(max_length=128, blank=True)
    removed_by_name = models.CharField(max_length=200, blank=True)
    removed_with = models.UUIDField(null=True)
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()
    version = models.IntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["project", "number"], name="item_number_once"),
            models.CheckConstraint(
                condition=models.Q(status="todo", group="not_started")
                | models.Q(status__in=["in_progress", "in_review"], group="active")
                | models.Q(status="done", group="done")
                | models.Q(status="cancelled", group="closed"),
                name="item_status_in_group",
            ),
            models.CheckConstraint(
                condition=models.Q(finished_at=None, group__in=["not_started", "active"])
                | models.Q(finished_at__isnull=False, group__in=["done", "closed"]),
                name="item_finish_follows_group",
            ),
            models.CheckConstraint(
                condition=models.Q(depth__gte=1, depth__lte=DEEPEST), name="item_depth"
            ),
            models.CheckConstraint(
                condition=models.Q(removed_at=None, removed_with=None)
                | models.Q(removed_at__isnull=False, removed_with__isnull=False),
                name="item_removed_with_others",
            ),
        ]
        indexes = [
            models.Index(fields=["project", "status", "rank"], name="item_board"),
            models.Index(fields=["project", "rank"], name="item_rank"),
            models.Index(fields=["assignee", "group", "due_at"], name="item_assignee"),
            models.Index(fields=["reporter", "group"], name="item_reporter"),
            models.Index(fields=["parent"], name="item_parent"),
            models.Index(fields=["root"], name="item_root"),
            models.Index(fields=["-updated_at", "-id"], name="item_updated"),
            models.Index(
                fields=["removed_with"],
                name="item_removed",
                condition=models.Q(removed_at__isnull=False),
            ),
        ]

    def __str__(self) -> str:
        return self.key


class ItemBody(models.Model):
    """One immutable revision of an item's text."""

    id = models.UUIDField(primary_key=True, default=new_id)
    item = models.ForeignKey(WorkItem, on_delete=models.CASCADE, related_name="bodies")
    version = models.IntegerField()
    text = models.TextField(blank=True)
    author = models.CharField(max_length=128)
    created_at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["item", "version"], name="item_body_once")]


class ParticipantRole(models.TextChoices):
    """How somebody takes part."""

    WATCHER = "watcher", "Watches"


class Participant(models.Model):
    """A seat that takes part in an item."""

    id = models.UUIDField(primary_key=True, default=new_id)
    item = models.ForeignKey(WorkItem, on_delete=models.CASCADE, related_name="participants")
    seat = models.ForeignKey("orgs.Seat", on_delete=models.PROTECT, related_name="+")
    role = models.CharField(max_length=12, choices=ParticipantRole.choices)
    since = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["item", "seat", "role"], name="participant_once")
        ]
        indexes = [models.Index(fields=["seat", "role"], name="participant_seat")]
