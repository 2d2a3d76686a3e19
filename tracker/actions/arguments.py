"""What the tracker's verbs take. Descriptions are read by models."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StringConstraints, field_validator, model_validator

from crewlet.kernel.actions import Args
from tracker.decisions import Decision
from tracker.statuses import Priority, Status

TEXT_BYTES = 32 * 1024
TITLE_LENGTH = 300
LABEL_LENGTH = 64


def _storable(value: Any) -> Any:
    """Drops what Postgres cannot store: NUL and half surrogates. Everything else stays as it is."""
    if not isinstance(value, str):
        return value
    return value.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def _title(value: Any) -> Any:
    return " ".join(_storable(value).split()) if isinstance(value, str) else value


def _bounded(text: str) -> str:
    size = len(text.encode())
    if size > TEXT_BYTES:
        raise ValueError(f"{size} bytes; at most {TEXT_BYTES}. Put the rest into a comment.")
    return text


Title = Annotated[
    str, BeforeValidator(_title), StringConstraints(min_length=1, max_length=TITLE_LENGTH)
]
Markdown = Annotated[str, BeforeValidator(_storable)]
Word = Annotated[
    str, BeforeValidator(_storable), StringConstraints(max_length=200, strip_whitespace=True)
]
Why = Annotated[
    str, BeforeValidator(_storable), StringConstraints(max_length=500, strip_whitespace=True)
]
ItemWord = Annotated[Word, Field(description="Key of the item, such as ENG-4.", min_length=1)]


def _labels(value: Any) -> Any:
    """Takes `a, b` for a list too: a label has no comma, so that filters can list them."""
    parts = [value] if isinstance(value, str) else value
    if not isinstance(parts, list | tuple):
        return value
    words: list[Any] = []
    for part in parts:
        words += part.split(",") if isinstance(part, str) else [part]
    return [word for word in words if not isinstance(word, str) or word.strip()]


Label = Annotated[
    str, BeforeValidator(_title), StringConstraints(min_length=1, max_length=LABEL_LENGTH)
]
LabelList = Annotated[tuple[Label, ...], BeforeValidator(_labels)]


class WorkArgs(Args):
    """Base of the tracker's arguments: a null where only a text, list or flag fits is not sent.

    Some models fill in every optional argument; for them a null means nothing was chosen.
    """

    @model_validator(mode="before")
    @classmethod
    def _nulls_are_absent(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        fields = cls.model_fields
        return {
            name: value
            for name, value in given.items()
            if value is not None
            or name not in fields
            or fields[name].is_required()
            or fields[name].default is None
        }


class CreateWorkItem(WorkArgs):
    """A new item."""

    title: Title = Field(description="What is to be done, in one line.")
    body: Markdown = Field(
        default="", description="Markdown: context, what done means, links. @handle wakes a seat."
    )
    project: Word = Field(
        default="", description="Project key. Left out: the parent's, else your own project."
    )
    status: Status = Status.TODO
    assignee: Word | None = Field(
        default=None,
        description="Handle of who is to do it; 'me', or 'none' to leave it open. Left out: the "
        "project's default.",
    )
    priority: Priority = Priority.NONE
    parent: Word = Field(default="", description="Key of the item this one is a part of.")
    due: Word | None = Field(
        default=None,
        description="2026-03-31, an instant with zone, today, tomorrow, eow, eom, +7d.",
    )
    labels: LabelList = Field(
        default=(), description="Tags of the project, by slug or label; list_projects shows them."
    )
    labels_create_missing: bool = Field(
        default=False, description="Declare the labels that the project does not have yet."
    )
    ask: Word = Field(default="", description="Handle of whom to ask about it right away.")
    decision: Decision | None = Field(
        default=None, description="With ask: a question with 2 to 6 options to choose from."
    )

    _body_fits = field_validator("body")(_bounded)


class UpdateWorkItem(WorkArgs):
    """A change of an item. Only the fields that are sent change."""

    item: ItemWord
    status: Status | None = None
    assignee: Word | None = Field(
        default=None, description="Handle of the new assignee, 'me', or 'none' to take it off."
    )
    reason: Why = Field(
        default="", description="Why, in a sentence: goes to the new assignee and into history."
    )
    priority: Priority | None = None
    title: Title | None = None
    body: Markdown | None = Field(
        default=None, description="The whole new text. Needs if_match, the version you edited."
    )
    parent: Word | None = Field(
        default=None, description="Key of the item this becomes a part of, or 'none'."
    )
    due: Word | None = Field(
        default=None,
        description="2026-03-31, an instant with zone, today, tomorrow, eow, eom, +7d; null "
        "clears.",
    )
    labels: LabelList | None = Field(
        default=None, description="All its tags from now on, by slug or label; [] takes them off."
    )
    labels_create_missing: bool = Field(
        default=False, description="Declare the labels that the project does not have yet."
    )
    watch: bool | None = Field(
        default=None, description="true: hear of every change; false: stop. Only for yourself."
    )
    if_match: int | None = Field(
        default=None, description="Refuse if the item's version is another one by now."
    )

    @field_validator("body")
    @classmethod
    def _body_fits(cls, text: str | None) -> str | None:
        return None if text is None else _bounded(text)


class CommentOnWorkItem(WorkArgs):
    """Something to say on an item."""

    item: ItemWord
    body: Markdown = Field(
        default="",
        description="Markdown, required unless you choose an option. @handle wakes a seat; a "
        "comment that names nobody may wake nobody.",
    )
    ask: Word = Field(
        default="", description="Handle of the one who is to answer this. Wakes them for an answer."
    )
    decision: Decision | None = Field(
        default=None, description="With ask: a question with 2 to 6 options to choose from."
    )
    answers: Word = Field(
        default="",
        description="Id of the ask this answers. Left out: the one open ask to you, if there is "
        "exactly one.",
    )
    choice: Word = Field(default="", description="Id of the option you choose.")
    reply_to: Word = Field(default="", description="Id of the comment this replies to.")

    @field_validator("body")
    @classmethod
    def _body_fits(cls, text: str) -> str:
        return _bounded(text)

    @model_validator(mode="after")
    def _says_something(self) -> CommentOnWorkItem:
        if not self.body.strip() and not self.choice:
            raise ValueError("body: write something, or choose an option of an ask")
        return self


class GetWorkItem(WorkArgs):
    """Which item to show."""

    item: ItemWord
    include: tuple[str, ...] = Field(
        default=("comments",), description="Any of: comments, history, links."
    )
    comment: Word = Field(default="", description="Id of one comment to show whole.")
    body: bool = Field(default=True, description="Whether to show the text.")

    @field_validator("include")
    @classmethod
    def _known_parts(cls, parts: tuple[str, ...]) -> tuple[str, ...]:
        for part in parts:
            if part not in {"comments", "history", "links"}:
                raise ValueError(f"{part!r} is none of comments, history, links")
        return parts


class ListWorkItems(WorkArgs):
    """Which items to list."""

    assignee: Word = Field(default="", description="Handle, 'me' or 'none'; a leading ! excludes.")
    project: Word = Field(default="", description="Project keys, separated by commas.")
    status: tuple[Status, ...] = ()
    open_only: bool = Field(default=True, description="Only what is not done or cancelled.")
    removed: bool = Field(default=False, description="true: what was removed, and nothing else.")
    text: Word = Field(default="", description="A piece of the title, or a key.")
    priority: Word = Field(default="", description="none, low, normal, high, urgent.")
    parent: Word = Field(default="", description="Key of an item: lists its parts.")
    reporter: Word = Field(default="", description="Handle of who filed it, or 'me'.")
    preset: Word = Field(
        default="",
        description="my_queue (yours, or unclaimed in your project), triage (nobody's) or overdue.",
    )
    due: Word = Field(
        default="", description="today, +3d, lt:2026-03-31, range:a..b, overdue, next7, null …"
    )
    updated: Word = Field(default="", description="When it last changed; as due.")
    label: Word = Field(default="", description="Tags: any:a,b all:a,b none:a,b.")
    filters: dict[str, Word] = Field(
        default_factory=dict,
        description='More keys of the query, such as {"has_open_asks": "true"}; an unknown one '
        "is refused with those there are.",
    )
    sort: Word = Field(
        default="",
        description="rank, updated, created, due, finished, priority, status_entered, title or "
        "tokens; - turns it round.",
    )
    cursor: Markdown = ""
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class MyWork(WorkArgs):
    """Nothing to say: it is about you."""


class PlaceWorkItem(WorkArgs):
    """Where to put an item in its project's manual order."""

    item: ItemWord
    if_match: int = Field(description="The version of the item you saw.")
    before: Word = Field(default="", description="Key of the item it is to stand right before.")
    after: Word = Field(default="", description="Key of the item it is to stand right after.")
    status: Status | None = Field(default=None, description="The lane it is dropped in.")
