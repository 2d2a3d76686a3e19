"""`comment_on_work_item`: talk, asks with a decision, and their answers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from crewlet.kernel import live
from crewlet.kernel.actions import Result, action
from crewlet.kernel.actors import Actor
from crewlet.kernel.authority import Grant
from crewlet.kernel.errors import Conflict, ErrorCode, Forbidden, Invalid
from crewlet.kernel.events import EventType
from crewlet.kernel.refs import REF_KINDS
from orgs import epochs
from tracker.access import comment_on, item_by_key, locked
from tracker.actions.arguments import CommentOnWorkItem
from tracker.actions.around import around
from tracker.actions.recording import Writing, excerpt, tell_feed, tell_pages
from tracker.actions.telling import SURFACE, Told, person_spoke, tell
from tracker.answering import may_answer
from tracker.decisions import Decision, is_address
from tracker.mentions import Mentions, find
from tracker.models.comments import Comment
from tracker.models.items import Participant, ParticipantRole, WorkItem
from tracker.roster import handle_for, kind_of, roster_of, unheard
from tracker.wakes import ChangeKind, Happened, Party

if TYPE_CHECKING:
    from orgs.epochs import Snapshot


@dataclass(frozen=True, slots=True)
class Saying:
    """Something to say, as the arguments give it."""

    body: str
    ask: str = ""
    decision: Decision | None = None
    answers: str = ""
    choice: str = ""
    reply_to: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """What saying it did."""

    comment: Comment
    told: Told
    mentions: Mentions
    answered: Comment | None


@action(
    "comment_on_work_item",
    args=CommentOnWorkItem,
    grant=Grant.WORK_WRITE,
    fetch=lambda actor, args: item_by_key(args.item),
    surface=SURFACE,
    label="Commented on {item}",
)
def comment_on_work_item(actor: Actor, args: CommentOnWorkItem, target: WorkItem) -> Result:
    """Say something on a work item. The assignee and who filed it hear of it; @handle reaches
    anybody else. With ask, one seat is asked for an answer, and with decision it gets options to
    choose from: use it when a person or your lead has to decide. To answer an ask of yours, just
    comment (answers is needed only if several are open) and give choice when there are options.
    """
    snapshot = epochs.active()
    writing = Writing(actor)
    item = locked(target)
    person_spoke(item, writing)
    said = say(
        writing, snapshot, item,
        Saying(args.body, args.ask, args.decision, args.answers, args.choice, args.reply_to),
    )  # fmt: skip
    item.updated_at = writing.now
    item.save(update_fields=["updated_at", "agent_wakes", "wakes_stopped_at"])
    writing.close()
    tell_pages(item)
    return Result(
        message=_message(item, said),
        refs=(f"item:{item.key}",),
        data={
            "comment": str(said.comment.pk),
            "item": item.key,
            "answered": str(said.answered.pk) if said.answered else None,
            "told": [name for name, _ in said.told.heard],
        },
    )


def _message(item: WorkItem, said: Said) -> str:
    parts = [f"Commented on {item.key}."]
    if said.answered is not None:
        parts.append(f"This answers the ask of {said.answered.author_name}.")
    if said.comment.asked_id:
        parts.append(f"Asked @{said.comment.ask_handle}; the answer comes to you as mail.")
    parts += [said.told.words(), unheard(said.mentions.unknown)]
    return " ".join(part for part in parts if part)


def say(writing: Writing, snapshot: Snapshot, item: WorkItem, saying: Saying) -> Said:
    """Writes a comment on an item that the caller has locked, and tells whom it concerns.

    The caller saves the item's wake counter and closes the writing.
    """
    actor = writing.actor
    asked = _asked(saying, snapshot, actor)
    answered = _answered(saying, item, actor, snapshot)
    choice = _choice(saying, answered)
    saying = _in_words(saying, answered, choice)
    thread = comment_on(item, saying.reply_to, field="reply_to") if saying.reply_to else None
    mentions = find(saying.body, roster_of(snapshot))
    comment = Comment.objects.create(
        item=item,
        author=actor.author,
        author_name=actor.name,
        author_kind=kind_of(actor),
        author_seat_id=actor.seat_id,
        author_person_id=actor.person_id if actor.seat_id is None else None,
        credential=actor.credential,
        turn_id=actor.turn.turn_id if actor.turn else None,
        body=saying.body,
        reply_to=thread,
        mentions=list(mentions.handles),
        asked_id=asked,
        ask_handle=snapshot.handles[asked] if asked else "",
        decision=saying.decision.model_dump(mode="json") if saying.decision else None,
        answers=answered,
        choice=choice,
        created_at=writing.now,
    )
    if answered is not None:
        _close_ask(answered, writing.now)
    if asked is not None:
        watch(item, asked, writing.now)
    surroundings = replace(
        around(item, actor, snapshot),
        mentioned=tuple(Party(seat_id=snapshot.seat_ids[name]) for name in mentions.handles),
        asked=Party(seat_id=asked) if asked else None,
        asker=_author(answered) if answered else None,
        thread=_thread(thread) if thread else (),
    )
    draft = writing.change(ChangeKind.COMMENT, item, excerpt=saying.body, comment=comment)
    told = tell(
        writing, snapshot, item, draft, happened=Happened(ChangeKind.COMMENT), around=surroundings,
        quote=_quote(saying, answered, choice),
    )  # fmt: skip
    _tell_feed(writing, item, comment, answered)
    return Said(comment, told, mentions, answered)


def _asked(saying: Saying, snapshot: Snapshot, actor: Actor) -> UUID | None:
    if not saying.ask:
        if saying.decision is not None:
            raise Invalid("decision: name in ask who is to decide.", field="ask")
        return None
    handle = handle_for(saying.ask, snapshot, actor, field="ask")
    if handle == actor.handle:
        raise Invalid("ask: you cannot ask yourself; name somebody else.", field="ask")
    for ref in saying.decision.evidence if saying.decision else ():
        _check_evidence(ref)
    return snapshot.seat_ids[handle]


def _check_evidence(ref: str) -> None:
    if is_address(ref):
        return
    name, _, ident = ref.partition(":")
    kind = REF_KINDS.get(name)
    if kind is None:
        raise Invalid(
            f"decision.evidence: there is no kind of reference {name!r}; there are: "
            f"{', '.join(REF_KINDS)}.",
            field="decision.evidence",
        )
    if not kind.exists(ident):
        raise Invalid(f"decision.evidence: {ref} does not exist.", field="decision.evidence")


def _answered(saying: Saying, item: WorkItem, actor: Actor, snapshot: Snapshot) -> Comment | None:
    """Returns the ask that this answers: the named one, else the only open one to the actor.

    The item's lock is held, so of two answers one finds the ask answered.
    """
    if saying.answers:
        ask = comment_on(item, saying.answers, field="answers")
        if ask.asked_id is None:
            raise Invalid("answers: that comment asks nobody.", field="answers")
        if ask.answered_at is not None:
            first = Comment.objects.filter(answers=ask).first()
            by = f" by {first.author_name}" if first else ""
            raise Conflict(
                f"answers: this ask was answered{by} already. A plain comment can add to it.",
                code=ErrorCode.ALREADY_ANSWERED,
                field="answers",
            )
        if not may_answer(ask, actor, snapshot):
            raise Forbidden(
                f"answers: only @{ask.ask_handle} answers this ask, or a person who manages them.",
                field="answers",
            )
        return ask
    if actor.seat_id is None:
        return None
    mine = list(
        item.comments.filter(asked_id=actor.seat_id, answered_at=None).order_by("created_at")[:2]
    )
    if len(mine) == 1:
        return mine[0]
    if mine and saying.choice:
        raise Invalid("answers: several asks to you are open here; name one.", field="answers")
    return None


def _choice(saying: Saying, answered: Comment | None) -> str:
    if not saying.choice:
        return ""
    if answered is None:
        raise Invalid("choice: there is no open ask to you here to choose in.", field="choice")
    options = [option["id"] for option in (answered.decision or {}).get("options", [])]
    if saying.choice not in options:
        raise Invalid(
            f"choice: {saying.choice!r} is not an option of this ask"
            + (f"; there are: {', '.join(options)}." if options else ", which has none."),
            field="choice",
            allowed=options,
        )
    return saying.choice


def _in_words(saying: Saying, answered: Comment | None, choice: str) -> Saying:
    """Lets the label of the chosen option speak for an answer by one press."""
    if saying.body.strip() or answered is None or not choice:
        return saying
    return replace(saying, body=Decision.model_validate(answered.decision).label_of(choice))


def _close_ask(ask: Comment, now: datetime) -> None:
    # The item's lock orders answers; the row count and the unique answer hold it without one.
    if not Comment.objects.filter(pk=ask.pk, answered_at=None).update(answered_at=now):
        raise Conflict(
            "answers: this ask was answered just now.",
            code=ErrorCode.ALREADY_ANSWERED,
            field="answers",
        )


def watch(item: WorkItem, seat_id: UUID, now: datetime) -> None:
    """Makes a seat watch an item; watching twice is watching."""
    watcher = Participant(item=item, seat_id=seat_id, role=ParticipantRole.WATCHER, since=now)
    Participant.objects.bulk_create([watcher], ignore_conflicts=True)


def _author(comment: Comment) -> Party | None:
    if comment.author_seat_id is not None:
        return Party(seat_id=comment.author_seat_id)
    return Party(person_id=comment.author_person_id) if comment.author_person_id else None


def _thread(comment: Comment) -> tuple[Party, ...]:
    """Returns who wrote in the thread that a reply joins, oldest first."""
    root = comment.reply_to_id or comment.pk
    written = Comment.objects.filter(item_id=comment.item_id).order_by("created_at", "id")
    parties = [_author(c) for c in written if root in (c.pk, c.reply_to_id)]
    return tuple(dict.fromkeys(party for party in parties if party is not None))


def _quote(saying: Saying, answered: Comment | None, choice: str) -> str:
    lines = [saying.body]
    if answered is not None and choice:
        decision = Decision.model_validate(answered.decision)
        lines = [f"On your question {decision.question!r}: {decision.label_of(choice)} ({choice})"]
        lines += ["", saying.body]
    if saying.decision is not None:
        asked = saying.decision
        lines += ["", f"Question: {asked.question}"]
        lines += [
            f"- {option.id}: {option.label}" + (f" — {option.detail}" if option.detail else "")
            for option in asked.options
        ]
        if asked.recommended:
            lines.append(f"Recommended: {asked.recommended}")
        if asked.rationale:
            lines.append(f"Because: {asked.rationale}")
    return "\n".join(lines)


def _tell_feed(
    writing: Writing, item: WorkItem, comment: Comment, answered: Comment | None
) -> None:
    name, said = writing.actor.name, excerpt(comment.body, 120)
    if comment.asked_id is not None:
        question = comment.decision["question"] if comment.decision else said
        kind = EventType.WORK_ITEM_ASKED
        words = f"{name} asked @{comment.ask_handle} on {item.key}: {question}"
    elif answered is not None:
        kind, words = EventType.WORK_ITEM_ANSWERED, f"{name} answered on {item.key}: {said}"
    else:
        kind, words = EventType.WORK_ITEM_COMMENTED, f"{name} on {item.key}: {said}"
    tell_feed(writing, kind, item, words)
    if comment.asked_id is not None or answered is not None:
        live.changed("inbox")
