"""Tags going onto items, and tags declared, renamed and archived in a project."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from rapidfuzz import fuzz

from crewlet.kernel.errors import Conflict, Invalid
from crewlet.kernel.nearest import nearest_names
from crewlet.kernel.slugs import free_slug, slug_of
from tracker.actions.recording import Writing
from tracker.models.projects import Project
from tracker.models.tags import Tag
from tracker.queries.tags import TagBook, folded

MOST_OF_ITEM = 40
MOST_OF_PROJECT = 512
NEAR = 85
"""From this likeness on (of 100) a new label is probably a slip for one that is there."""
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Labels:
    """The tags that an item is to have, and what was declared for them on the way."""

    slugs: list[str] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def words(self) -> str:
        """Returns what the writer is told of new tags; empty without any."""
        new = f"New tags: {', '.join(self.created)}." if self.created else ""
        return " ".join(part for part in (new, *self.warnings) if part)


def labels_for(
    writing: Writing,
    project: Project,
    words: Sequence[str],
    *,
    create_missing: bool,
    kept: Sequence[str] = (),
) -> Labels:
    """Returns the tags that words mean; raises `Invalid` for what the project never declared.

    `kept` are the slugs that the item has: an archived tag may stay where it is. When tags are to
    be declared, the caller holds no lock of an item, or the project's lock already.
    """
    if not words:
        return Labels()
    book = TagBook.of(project)
    found = [(word, book.find(word)) for word in words]
    missing = [word for word, tag in found if tag is None]
    if missing and not create_missing:
        raise _undeclared(book, missing[0])
    for word, tag in found:
        if tag is not None and tag.archived_at is not None and tag.slug not in kept:
            raise Invalid(
                f"labels: {word!r} is an archived tag of {project.key}; it goes on no other item. "
                f"There are: {_some(book)}.",
                field="labels",
                allowed=_slugs(book),
            )
    warnings: list[str] = []
    created: list[Tag] = []
    if missing:
        created, warnings = declare(writing, project, [(word, "") for word in missing], "labels")
        book.tags += created
    tags = [book.find(word) for word in words]
    slugs = list(dict.fromkeys(tag.slug for tag in tags if tag is not None))
    if len(slugs) > MOST_OF_ITEM:
        raise Invalid(
            f"labels: {len(slugs)} tags; an item has at most {MOST_OF_ITEM}.", field="labels"
        )
    return Labels(slugs, [tag.slug for tag in created], warnings)


def _undeclared(book: TagBook, word: str) -> Invalid:
    names = [name for tag in book.usable for name in (tag.slug, tag.label)]
    near = dict.fromkeys(
        tag.slug for name in nearest_names(word, names) if (tag := book.find(name)) is not None
    )
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    there = f" There are: {_some(book)}." if book.usable else ""
    return Invalid(
        f"labels: {book.project.key} has no tag {word!r}.{hint}{there} To declare it, send "
        "labels_create_missing=true.",
        field="labels",
        allowed=_slugs(book),
    )


def _slugs(book: TagBook) -> list[str]:
    return [tag.slug for tag in book.usable]


def _some(book: TagBook) -> str:
    slugs = _slugs(book)
    more = f" and {len(slugs) - _SHOWN} more" if len(slugs) > _SHOWN else ""
    return (", ".join(slugs[:_SHOWN]) or "none") + more


def declare(
    writing: Writing, project: Project, wanted: Iterable[tuple[str, str]], argument: str
) -> tuple[list[Tag], list[str]]:
    """Declares tags as (label, slug or nothing); returns those that are new, and warnings.

    A label that is there already is no new tag. Raises `Invalid` for an archived one.
    """
    # Lock order: the project before any item. Under it two declarations of one label are apart.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    book = TagBook.of(project)
    new: list[Tag] = []
    warnings: list[str] = []
    for label, slug in wanted:
        _check_words(label, slug, argument)
        there = book.find(slug or label) or book.find(label)
        if there is not None:
            _check_same(there, label, slug, argument)
            continue
        if near := _near(book, label):
            warnings.append(
                f"{label!r} looks like {near!r}, which {project.key} has already; if it is a slip, "
                "archive the new tag."
            )
        tag = Tag(
            project=project,
            slug=free_slug(slug or label, {tag.slug for tag in book.tags}),
            label=label,
            folded=folded(label),
            author=writing.actor.author,
            created_at=writing.now,
        )
        book.tags.append(tag)
        new.append(tag)
    if new and len(book.tags) > MOST_OF_PROJECT:
        raise Invalid(
            f"{argument}: {project.key} has {len(book.tags) - len(new)} tags; at most "
            f"{MOST_OF_PROJECT}.",
            field=argument,
        )
    Tag.objects.bulk_create(new)
    return new, warnings


def _check_words(label: str, slug: str, argument: str) -> None:
    if "," in label:
        raise Invalid(f"{argument}: a label has no comma: {label!r}.", field=argument)
    if slug and slug != slug_of(slug):
        raise Invalid(f"{argument}: {slug!r} is no slug; {slug_of(slug)!r} is one.", field=argument)


def _check_same(there: Tag, label: str, slug: str, argument: str) -> None:
    if there.archived_at is not None:
        raise Invalid(
            f"{argument}: {there.slug} ({there.label!r}) is an archived tag; archiving is for "
            "good. Choose another label.",
            field=argument,
        )
    if slug and (there.slug != slug or there.folded != folded(label)):
        raise Conflict(
            f"{argument}: the tag {there.slug} ({there.label!r}) is there already. Rename it with "
            "tags_rename, or choose another slug and label.",
            field=argument,
        )


def _near(book: TagBook, label: str) -> str:
    fold = folded(label)
    likeness = [(fuzz.ratio(fold, tag.folded), tag.label) for tag in book.usable]
    best = max(likeness, default=(0.0, ""))
    return best[1] if best[0] >= NEAR else ""


def rename(book: TagBook, wanted: dict[str, str]) -> list[tuple[Tag, str]]:
    """Gives tags new labels; their slugs stay. Returns them with the labels they had."""
    renamed = []
    for word, label in wanted.items():
        # A form writes `#2024`: a bare number there would be a place in a list.
        tag = _declared(book, word.removeprefix("#"), "tags_rename")
        _check_words(label, "", "tags_rename")
        other = next((one for one in book.tags if one.folded == folded(label)), None)
        if other is not None and other is not tag:
            raise Conflict(
                f"tags_rename: {label!r} is the label of {other.slug} already.",
                field="tags_rename",
            )
        if tag.label != label:
            renamed.append((tag, tag.label))
            tag.label, tag.folded = label, folded(label)
            tag.save(update_fields=["label", "folded"])
    return renamed


def archive(writing: Writing, book: TagBook, words: Iterable[str]) -> list[Tag]:
    """Takes tags out of use for good; items that have them keep them."""
    gone = []
    for word in words:
        tag = _declared(book, word, "tags_archive")
        if tag.archived_at is None:
            tag.archived_at = writing.now
            tag.save(update_fields=["archived_at"])
            gone.append(tag)
    return gone


def _declared(book: TagBook, word: str, argument: str) -> Tag:
    tag = book.find(word)
    if tag is None:
        near = " or ".join(nearest_names(word, [one.slug for one in book.tags]))
        raise Invalid(
            f"{argument}: {book.project.key} has no tag {word!r}."
            + (f" Did you mean {near}?" if near else ""),
            field=argument,
        )
    return tag
