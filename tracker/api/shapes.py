"""What the tracker's routes answer, for the OpenAPI schema."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from tracker.statuses import Priority, Status, StatusGroup


class ItemShape(serializers.Serializer[Any]):
    """A work item. People are handles (or the login of somebody without a seat) and names."""

    key = serializers.CharField()
    id = serializers.UUIDField()
    url = serializers.CharField()
    title = serializers.CharField()
    project = serializers.CharField()
    status = serializers.ChoiceField(choices=[status.value for status in Status])
    status_group = serializers.ChoiceField(choices=[group.value for group in StatusGroup])
    priority = serializers.ChoiceField(choices=[priority.value for priority in Priority])
    assignee = serializers.CharField(allow_null=True)
    assignee_name = serializers.CharField(allow_null=True)
    reporter = serializers.CharField()
    reporter_name = serializers.CharField()
    parent = serializers.CharField(allow_null=True)  # type: ignore[assignment]  # a name of the contract
    labels = serializers.ListField(child=serializers.CharField())
    due = serializers.CharField(allow_null=True, help_text="a day, or an instant with its zone")
    overdue = serializers.BooleanField()
    comments = serializers.IntegerField()
    version = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)
    removed_at = serializers.DateTimeField(allow_null=True)


class NeighboursShape(serializers.Serializer[Any]):
    """Where the item of `around` stands in the list, from 1."""

    position = serializers.IntegerField()
    previous = serializers.CharField(allow_null=True)
    next = serializers.CharField(allow_null=True)


class ColumnShape(serializers.Serializer[Any]):
    """One column: the count of all its items and the first of them. An empty value is "none"."""

    value = serializers.CharField(allow_blank=True)
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    total = serializers.IntegerField()
    next_cursor = serializers.CharField(
        allow_null=True, help_text="goes on with group= and the same sort"
    )
    items = ItemShape(many=True)


class LaneShape(serializers.Serializer[Any]):
    """One swimlane across the columns."""

    value = serializers.CharField(allow_blank=True)
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    groups = ColumnShape(many=True)


class ItemListShape(serializers.Serializer[Any]):
    """One page of items, or columns with `group_by`. `total` counts the whole set, up to 10,000."""

    items = ItemShape(many=True)
    next_cursor = serializers.CharField(allow_null=True)
    total = serializers.IntegerField()
    totals = serializers.DictField(
        child=serializers.FloatField(), required=False, help_text="figures that totals= asked for"
    )
    around = NeighboursShape(required=False)
    groups = ColumnShape(many=True, required=False)
    overlap = serializers.BooleanField(
        required=False, help_text="an item may stand in several columns"
    )
    lanes = LaneShape(many=True, required=False)


class CommentShape(serializers.Serializer[Any]):
    """Something said on an item."""

    id = serializers.UUIDField()
    kind = serializers.ChoiceField(choices=["comment", "system"])
    author = serializers.CharField()
    author_kind = serializers.ChoiceField(choices=["agent", "human", "operator", "system"])
    body = serializers.CharField()
    at = serializers.DateTimeField()
    ask = serializers.CharField(allow_null=True, help_text="handle of whom it asks")
    open = serializers.BooleanField(help_text="an ask that nobody answered yet")
    answers = serializers.UUIDField(allow_null=True)
    choice = serializers.CharField(allow_null=True)
    reply_to = serializers.UUIDField(allow_null=True)


class CommentListShape(serializers.Serializer[Any]):
    """The newest comments of an item, oldest first."""

    comments = CommentShape(many=True)


class ChangeShape(serializers.Serializer[Any]):
    """One row of history. `fields` holds raw values, {from, to} each."""

    seq = serializers.IntegerField()
    kind = serializers.CharField()
    actor = serializers.CharField()
    actor_kind = serializers.ChoiceField(choices=["agent", "human", "operator", "system"])
    fields = serializers.DictField()  # type: ignore[assignment]  # a name of the contract
    reason = serializers.CharField()
    excerpt = serializers.CharField()
    notified = serializers.ListField(child=serializers.DictField())
    at = serializers.DateTimeField()


class SpendShape(serializers.Serializer[Any]):
    """What an item has cost."""

    turns = serializers.IntegerField()
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()


class ItemDetailShape(serializers.Serializer[Any]):
    """One item with its text, talk, history, parts, open asks, watchers and cost."""

    item = ItemShape()
    body = serializers.CharField()
    parts = ItemShape(many=True)
    asks = serializers.ListField(child=serializers.DictField())
    comments = CommentShape(many=True)
    history = ChangeShape(many=True)
    turns = serializers.ListField(child=serializers.DictField())
    watchers = serializers.ListField(child=serializers.CharField())
    spend = SpendShape()
    agent_wakes_stopped = serializers.BooleanField()


class CountsShape(serializers.Serializer[Any]):
    """Items by status group."""

    todo = serializers.IntegerField()
    active = serializers.IntegerField()
    done = serializers.IntegerField()
    closed = serializers.IntegerField()


class LastChangeShape(serializers.Serializer[Any]):
    """The newest entry of a project's history."""

    at = serializers.DateTimeField()
    actor = serializers.CharField()
    actor_name = serializers.CharField()
    actor_kind = serializers.ChoiceField(choices=["agent", "human", "operator", "system"])


class TagShape(serializers.Serializer[Any]):
    """A tag of a project: the slug is for ever, the label can be renamed."""

    slug = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # a name of the contract
    archived = serializers.BooleanField()


class CensusShape(serializers.Serializer[Any]):
    """How many projects there are, whatever the filters."""

    active = serializers.IntegerField()
    archived = serializers.IntegerField()


class ProjectShape(serializers.Serializer[Any]):
    """A project of the org chart."""

    key = serializers.CharField()
    name = serializers.CharField()
    purpose = serializers.CharField()
    unit = serializers.CharField()
    lead = serializers.CharField(allow_null=True)
    url = serializers.CharField()
    counts = CountsShape()
    left = serializers.BooleanField(help_text="its unit left the chart")
    archived = serializers.BooleanField(help_text="takes no new item or file")
    default_assignee = serializers.CharField(allow_null=True)
    last_change = LastChangeShape(allow_null=True)


class ProjectWithTagsShape(ProjectShape):
    """A project with its tags, archived ones too."""

    tags = TagShape(many=True)


class ProjectChangeShape(serializers.Serializer[Any]):
    """One write in a project."""

    id = serializers.CharField()
    at = serializers.DateTimeField()
    actor = serializers.CharField(help_text="the handle or login of who made it")
    actor_name = serializers.CharField()
    kind = serializers.CharField()
    item = serializers.CharField(allow_null=True, help_text="the key of the item, if one")
    text = serializers.CharField(help_text="what was done, in words")
    reason = serializers.CharField()


class ProjectHistoryShape(serializers.Serializer[Any]):
    """One page of what happened in a project, newest first."""

    changes = ProjectChangeShape(many=True)
    next = serializers.IntegerField(
        allow_null=True, help_text="give it as `before` for the following page"
    )


class ProjectListShape(serializers.Serializer[Any]):
    """The projects that match."""

    projects = ProjectShape(many=True)
    total = serializers.IntegerField()
    census = CensusShape()


class SectionShape(serializers.Serializer[Any]):
    """A section of one's own work: the first items and the count of all."""

    items = ItemShape(many=True)
    total = serializers.IntegerField()


class AskSectionShape(serializers.Serializer[Any]):
    """A section of asks: the first ones and the count of all."""

    asks = serializers.ListField(child=serializers.DictField())
    total = serializers.IntegerField()


class MyWorkShape(serializers.Serializer[Any]):
    """What is on the caller."""

    assigned = SectionShape()
    asked_of_me = AskSectionShape()
    asked_by_me = AskSectionShape()
    filed = SectionShape()
    watching = SectionShape()
