"""The tags that a project declared, by the words people and models use for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, F, Func, OuterRef

from tracker.models.projects import Project
from tracker.models.tags import Tag


def folded(label: str) -> str:
    """Returns a label without case and doubled spaces: two tags of a project never share it."""
    return " ".join(label.casefold().split())


@dataclass(slots=True)
class TagBook:
    """The tags of one project."""

    project: Project
    tags: list[Tag]

    @classmethod
    def of(cls, project: Project) -> TagBook:
        """Returns the tags of a project by their labels, archived ones too."""
        return cls(project, list(Tag.objects.filter(project=project).order_by("folded", "id")))

    def find(self, word: str) -> Tag | None:
        """Returns the tag that a word means: a slug, else a label in any case."""
        bare, fold = word.strip(), folded(word)
        by_slug = next((tag for tag in self.tags if tag.slug == bare), None)
        return by_slug or next((tag for tag in self.tags if tag.folded == fold), None)

    @property
    def usable(self) -> list[Tag]:
        """The tags that may go on an item."""
        return [tag for tag in self.tags if tag.archived_at is None]


def tag_rows(tags: Iterable[Tag]) -> list[dict[str, Any]]:
    """Returns tags as every page and answer shows them."""
    return [
        {"slug": tag.slug, "label": tag.label, "archived": tag.archived_at is not None}
        for tag in tags
    ]


def labels_of_tags() -> ArraySubquery:
    """Returns, for a queryset of items, the labels of each item's tags, in order."""
    on_it = Func(
        F("slug"),
        OuterRef("tags"),
        template="%(expressions)s)",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )
    held = Tag.objects.filter(on_it, project=OuterRef("project_id"))
    return ArraySubquery(held.order_by("folded").values("label"))


def tags_by_project(keys: Iterable[str]) -> dict[str, list[dict[str, Any]]]:
    """Returns the tags of some projects by their keys, in one statement."""
    found: dict[str, list[dict[str, Any]]] = {}
    rows = Tag.objects.filter(project__key__in=list(keys)).select_related("project")
    for tag in rows.order_by("folded", "id"):
        found.setdefault(tag.project.key, []).extend(tag_rows([tag]))
    return found
