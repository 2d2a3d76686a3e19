"""The tracker in Django's admin: everything to read; work is changed where it is done."""

from __future__ import annotations

from django.contrib import admin

from orgs.admin import ReadOnlyAdmin
from tracker.models.comments import Comment
from tracker.models.history import Change
from tracker.models.items import ItemBody, Participant, WorkItem
from tracker.models.projects import ItemKey, Project
from tracker.models.spend import TurnCharge


@admin.register(Project)
class ProjectAdmin(ReadOnlyAdmin):
    """Projects follow the org chart."""

    list_display = ("key", "name", "unit_name", "lead", "default_assignee", "left_chart_at")
    search_fields = ("key", "name")


@admin.register(WorkItem)
class WorkItemAdmin(ReadOnlyAdmin):
    """Items."""

    list_display = ("key", "title", "status", "priority", "assignee", "updated_at")
    list_filter = ("project", "status", "priority")
    list_select_related = ("assignee",)
    search_fields = ("key", "title")


@admin.register(Comment)
class CommentAdmin(ReadOnlyAdmin):
    """Comments, asks and answers."""

    list_display = ("item", "author_name", "kind", "ask_handle", "answered_at", "created_at")
    list_filter = ("kind", "author_kind")
    list_select_related = ("item",)


@admin.register(Change)
class ChangeAdmin(ReadOnlyAdmin):
    """History."""

    list_display = ("seq", "item", "kind", "actor", "actor_kind", "at")
    list_filter = ("kind", "actor_kind")
    list_select_related = ("item",)


@admin.register(ItemBody)
class ItemBodyAdmin(ReadOnlyAdmin):
    """Revisions of texts."""

    list_display = ("item", "version", "author", "created_at")
    list_select_related = ("item",)


@admin.register(TurnCharge)
class TurnChargeAdmin(ReadOnlyAdmin):
    """What turns were charged to items."""

    list_display = ("item", "turn_id", "seat", "tokens_in", "tokens_out", "at")
    list_select_related = ("item", "seat")


admin.site.register([ItemKey, Participant], ReadOnlyAdmin)
