"""Items, talk and history as lines that a model or a person at a terminal reads."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tracker.queries.detail import reach, sentence

if TYPE_CHECKING:
    from tracker.models.comments import Comment
    from tracker.models.history import Change

EXCERPT_BYTES = 2048


def section(title: str, lines: list[str]) -> list[str]:
    """Returns a titled block; nothing for an empty one."""
    return ["", f"## {title}", *lines] if lines else []


def row_line(row: Mapping[str, Any]) -> str:
    """Returns an item on one line: `ENG-4 [in_progress] high @kofi Title (due 2026-03-31)`."""
    who = f"@{row['assignee']['handle']}" if row["assignee"] else "nobody"
    priority = f" {row['priority']}" if row["priority"] != "none" else ""
    due = f" (due {row['due']}{', overdue' if row['overdue'] else ''})" if row["due"] else ""
    return f"{row['key']} [{row['status']}]{priority} {who}: {row['title']}{due}"


def item_lines(row: Mapping[str, Any]) -> list[str]:
    """Returns the head of one item."""
    lines = [
        f"# {row['key']} {row['title']}",
        f"Status: {row['status']}; priority: {row['priority']}; version: {row['version']}",
        f"Assignee: {'@' + row['assignee']['handle'] if row['assignee'] else 'nobody'}; "
        f"filed by {row['reporter']['name']} (@{row['reporter']['handle']})",
    ]
    if row["removed_at"]:
        lines.append(
            f"Removed by {row['removed_by']} on {row['removed_at']:%Y-%m-%d}: it takes no writes "
            "until a person restores it."
        )
    if row["due"]:
        lines.append(f"Due: {row['due']}{' (overdue)' if row['overdue'] else ''}")
    if row["tags"]:
        lines.append(f"Labels: {', '.join(row['tags'])}")
    if row["parent"]:
        lines.append(f"Part of: {row['parent']}")
    if row["subs"]:
        lines.append(f"Parts: {row['subs']['done']} of {row['subs']['total']} finished")
    return lines


def ask_lines(card: Mapping[str, Any]) -> list[str]:
    """Returns an open ask with what an answer needs: its id and the options."""
    question = card["question"] or cut(card["context"])
    yours = " — waits for you" if card["mine"] else ""
    lines = [
        f"- ask {card['id']} by {card['who']['name']} to @{card['to']['handle']}{yours}: {question}"
    ]
    for option in card["options"]:
        taken = " (recommended)" if option["id"] == card["recommended"] else ""
        detail = f" — {option['detail']}" if option["detail"] else ""
        lines.append(f"  - choice {option['id']}: {option['label']}{detail}{taken}")
    return lines


def ask_line(ask: Comment) -> str:
    """Returns an open ask on one line."""
    question = (ask.decision or {}).get("question") or " ".join(ask.body.split())[:200]
    return f"{ask.item.key} {ask.item.title}: {ask.author_name} asks @{ask.ask_handle}: {question}"


def talk(comments: Iterable[Comment]) -> list[str]:
    """Returns comments, oldest first, each cut to an excerpt."""
    return [line for comment in comments for line in comment_lines(comment)]


def comment_lines(comment: Comment, *, whole: bool = False) -> list[str]:
    """Returns one comment: who, when, its id, what it asks or answers, and its text."""
    marks = []
    if comment.asked_id:
        state = "answered" if comment.answered_at else "open"
        marks.append(f"asks @{comment.ask_handle}, {state}")
    if comment.answers_id:
        marks.append("an answer" + (f": {comment.choice}" if comment.choice else ""))
    at = comment.created_at.isoformat(timespec="minutes")
    head = f"- {comment.author_name} (@{comment.author}), {at}, comment {comment.pk}"
    text = comment.body if whole else cut(comment.body)
    said = [head + (f" ({'; '.join(marks)})" if marks else "")]
    return said + [f"  {line}".rstrip() for line in text.splitlines()]


def cut(text: str) -> str:
    """Returns the beginning of a long text, saying that it goes on."""
    raw = text.encode()
    if len(raw) <= EXCERPT_BYTES:
        return text
    kept = raw[:EXCERPT_BYTES].decode("utf-8", "ignore")
    return f"{kept}… ({len(raw)} bytes; get_work_item with comment=<id> shows it whole)"


def history(changes: Iterable[Change], names: Mapping[str, str]) -> list[str]:
    """Returns changes, oldest first: who did what, why, and who was told."""
    lines = []
    for change in changes:
        did = "commented" if change.kind == "comment" else sentence(change, names)
        why = f" — {change.reason}" if change.reason else ""
        told = reach(change)
        at = change.at.isoformat(timespec="minutes")
        lines.append(f"- {at} {change.actor_name} {did}{why}" + (f" ({told})" if told else ""))
    return lines


def comment_data(comment: Comment) -> dict[str, Any]:
    """Returns a comment as JSON."""
    return {
        "id": str(comment.pk),
        "author": comment.author,
        "author_kind": comment.author_kind,
        "kind": comment.kind,
        "body": comment.body,
        "at": comment.created_at.isoformat(),
        "ask": comment.ask_handle or None,
        "open": bool(comment.asked_id and comment.answered_at is None),
        "answers": str(comment.answers_id) if comment.answers_id else None,
        "choice": comment.choice or None,
        "reply_to": str(comment.reply_to_id) if comment.reply_to_id else None,
    }


def change_data(change: Change) -> dict[str, Any]:
    """Returns a history row as JSON."""
    return {
        "seq": change.seq,
        "kind": change.kind,
        "actor": change.actor,
        "actor_kind": change.actor_kind,
        "fields": change.fields,
        "reason": change.reason,
        "excerpt": change.excerpt,
        "notified": change.notified,
        "at": change.at.isoformat(),
    }
