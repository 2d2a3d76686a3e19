"""Sections about the message: what varies rides here, in the user's part."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from agents.prompts.context import TriggerText
from agents.prompts.outline import Section
from agents.prompts.prose import prose


def reply(reply_kind: str, reply_surface: str) -> str:
    """Returns what is owed, in one sentence."""
    where = f" on the surface `{reply_surface}`" if reply_surface else ""
    if reply_kind == "tool":
        return prose("reply_tool", where=where)
    return prose(f"reply_{reply_kind}")


def task(
    trigger: Sequence[TriggerText],
    reply_kind: str,
    reply_surface: str,
    now: datetime,
    zone: ZoneInfo,
) -> Section:
    """The message that woke the seat: earlier ones in order, the newest last, then what is owed."""
    lines = [f"It is {now.astimezone(zone):%A %d %B %Y, %H:%M} ({zone.key})."]
    *earlier, newest = trigger
    if earlier:
        lines.append("## Earlier messages, oldest first")
        lines += [_quoted(message, zone) for message in earlier]
    lines.append("## The message")
    lines.append(_quoted(newest, zone))
    lines.append(reply(reply_kind, reply_surface))
    return Section("task", "The message", "\n\n".join(lines))


def _quoted(message: TriggerText, zone: ZoneInfo) -> str:
    payload = message.payload
    sender = payload.get("sender") or {}
    name = sender.get("name") or "the engine"
    handle = f" (@{sender['handle']})" if sender.get("handle") else ""
    at = f"{message.ts.astimezone(zone):%d %b %H:%M}"
    text = str(payload.get("text") or payload.get("summary") or "").strip()
    origin = _attribute(message.source)
    return (
        f"**{_one_line(name)}**{_one_line(handle)}, {at}:\n\n"
        f'<message from="{_attribute(str(name))}" via="{origin}">\n{fenced(text)}\n</message>'
    )


_FENCE = re.compile(r"<(?=\s*/?\s*message\b)", re.IGNORECASE)


def fenced(text: str) -> str:
    """Returns text that can neither end the fence around it nor open one of its own."""
    return _FENCE.sub("&lt;", text)


def _one_line(text: object) -> str:
    return " ".join(fenced(str(text)).split())


def _attribute(text: str) -> str:
    return " ".join(re.sub(r'[<>"]', "", text).split())


def reference(
    trigger: Sequence[TriggerText], reply_kind: str, reply_surface: str, zone: ZoneInfo
) -> Section:
    """What was asked, as the reviewer reads it."""
    lines = ["## What was asked"]
    lines += [_quoted(message, zone) for message in trigger]
    lines.append(reply(reply_kind, reply_surface))
    return Section("reference", "What was asked", "\n\n".join(lines))
