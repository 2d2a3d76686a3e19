"""The palette: what was typed, looked up in one scope or in all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse

from crewlet.console.pages import actor_of, draw, fragment
from crewlet.console.regions import attempt
from crewlet.console.registries import PALETTE_ACTS, PALETTE_SOURCES, PaletteAnswer, PaletteRow
from crewlet.kernel.actors import Actor
from crewlet.kernel.refs import REF_KINDS

ROWS = 6
LEAST = 2
ACTS, ACT_PREFIX = "acts", ">"
_REF = re.compile(r"([a-z][a-z_]*):(\S+)")
_KEY = re.compile(r"[A-Za-z][A-Za-z0-9]{1,9}-\d+")


@fragment
def palette(request: HttpRequest) -> HttpResponse:
    """Answers what was typed: `q`, in one `scope` or in all."""
    typed = request.GET.get("q", "").strip()
    scope, text = scope_of(request.GET.get("scope", "all"), typed)
    short = 0 < len(text) < LEAST
    actor = actor_of(request)
    context = {
        "q": text,
        "scope": scope,
        "short": short,
        "groups": [] if short else list(_groups(actor, scope, text, _looked_at(request))),
    }
    return draw(request, "ui/palette_list.html", context)


def _looked_at(request: HttpRequest) -> str:
    """Returns the reference of the object that the reader looks at, or an empty string."""
    ref = request.GET.get("ref", "")
    return ref if _REF.fullmatch(ref) else ""


def scope_of(scope: str, typed: str) -> tuple[str, str]:
    """Returns the scope and the text without the prefix that names the scope."""
    prefixes = {source.prefix: key for key, source in PALETTE_SOURCES.items() if source.prefix}
    prefixes[ACT_PREFIX] = ACTS
    if typed[:1] in prefixes:
        return prefixes[typed[0]], typed[1:].strip()
    return scope, typed


def resolve(text: str) -> PaletteRow | None:
    """Returns where a pasted reference or item key leads, or None when it names nothing."""
    matched = _REF.fullmatch(text)
    name, ident = matched.groups() if matched else ("item", text.upper())
    kind = REF_KINDS.get(name)
    if kind is None or not (matched or _KEY.fullmatch(text)) or not kind.exists(ident):
        return None
    url = kind.url(ident)
    return PaletteRow(f"{kind.label(ident)}", url, "corner-down-right", ident) if url else None


def _groups(actor: Actor, scope: str, text: str, ref: str) -> Iterator[dict[str, Any]]:
    """Yields what each part found; one that refuses says why and costs the others nothing."""
    everywhere = scope == "all"
    limit = ROWS if everywhere else ROWS * 4
    if everywhere and text:
        yield from _group("exact", "Exactly this", partial(_exactly, text), limit)
    for key, source in sorted(PALETTE_SOURCES.items(), key=lambda entry: entry[1].order):
        if everywhere or scope == key or (scope, source.prefix) == (ACTS, ACT_PREFIX):
            yield from _group(key, source.title, partial(source.find, actor, text), limit)
    for key, act in sorted(PALETTE_ACTS.items(), key=lambda entry: entry[1].order):
        if scope == ACTS or (everywhere and text):
            rows = partial(act.rows, actor, text, ref)
            yield from _group(f"act-{key}", act.title, rows, limit)


def _exactly(text: str) -> list[PaletteRow]:
    return [row for row in [resolve(text)] if row]


def _group(
    key: str, title: str, find: Callable[[], list[PaletteRow] | PaletteAnswer], limit: int
) -> Iterator[dict[str, Any]]:
    found = attempt(find, f"palette:{key}")
    answer = found.value
    if not isinstance(answer, PaletteAnswer):
        answer = PaletteAnswer(answer or [])
    if answer.rows or answer.note or found.code:
        yield {
            "key": key,
            "title": title,
            "rows": [_drawn(row) for row in answer.rows[:limit]],
            "mode": answer.mode,
            "note": answer.note,
            "refused": found.message,
            "code": found.code,
        }


def _drawn(row: PaletteRow) -> dict[str, Any]:
    return {"row": row, "fields": json.dumps(row.fields) if row.verb else ""}
