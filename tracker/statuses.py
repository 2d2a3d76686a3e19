"""The words an item is described with: statuses, their groups, priorities. Pure."""

from __future__ import annotations

from enum import StrEnum


class Status(StrEnum):
    """Where an item stands. A person or an agent moves it from any status to any other.

    | status | group | means |
    |---|---|---|
    | todo | not_started | nobody works on it yet |
    | in_progress | active | somebody works on it |
    | in_review | active | the work is there and is being looked at |
    | done | done | finished; stamps `finished_at` |
    | cancelled | closed | will not be done; stamps `finished_at` |
    """

    TODO = "todo"
    IN_PROGRESS = "in_progress"
    IN_REVIEW = "in_review"
    DONE = "done"
    CANCELLED = "cancelled"


class StatusGroup(StrEnum):
    """What rules look at: the group of a status."""

    NOT_STARTED = "not_started"
    ACTIVE = "active"
    DONE = "done"
    CLOSED = "closed"


class Priority(StrEnum):
    """How pressing an item is."""

    NONE = "none"
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    URGENT = "urgent"


GROUP_OF: dict[Status, StatusGroup] = {
    Status.TODO: StatusGroup.NOT_STARTED,
    Status.IN_PROGRESS: StatusGroup.ACTIVE,
    Status.IN_REVIEW: StatusGroup.ACTIVE,
    Status.DONE: StatusGroup.DONE,
    Status.CANCELLED: StatusGroup.CLOSED,
}
OPEN_GROUPS: tuple[StatusGroup, ...] = (StatusGroup.NOT_STARTED, StatusGroup.ACTIVE)
FINISHED_GROUPS: tuple[StatusGroup, ...] = (StatusGroup.DONE, StatusGroup.CLOSED)

STATUS_LABELS: dict[Status, str] = {
    Status.TODO: "To do",
    Status.IN_PROGRESS: "In progress",
    Status.IN_REVIEW: "In review",
    Status.DONE: "Done",
    Status.CANCELLED: "Cancelled",
}
PRIORITY_WEIGHT: dict[Priority, int] = {
    Priority.NONE: 0,
    Priority.LOW: 1,
    Priority.NORMAL: 2,
    Priority.HIGH: 3,
    Priority.URGENT: 4,
}


def group_of(status: str) -> StatusGroup:
    """Returns the group of a status."""
    return GROUP_OF[Status(status)]


def is_finished(status: str) -> bool:
    """Returns whether nothing more is to be done on an item with this status."""
    return group_of(status) in FINISHED_GROUPS
