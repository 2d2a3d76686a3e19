"""The small parts of every page: icons, avatars, clocks, bars. Geometry is SVG attributes.

The content policy forbids inline style, so nothing here writes a `style`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Any
from zoneinfo import ZoneInfo

from django import template
from django.middleware.csrf import get_token
from django.template.context import Context
from django.templatetags.static import static
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from crewlet.console.markdown import to_html
from crewlet.kernel import clock
from crewlet.kernel.actors import Actor
from crewlet.kernel.ids import new_id

register = template.Library()
Party = Mapping[str, Any]
_MINUTE, _HOUR, _DAY = 60, 3600, 86400
_KIB = 1024
_THOUSAND, _MILLION = 1000, 1_000_000


# -- marks ----------------------------------------------------------------------------------------


@register.simple_tag
def icon(name: str, css: str = "i") -> SafeString:
    """Draws a symbol of the sprite; the word stands beside it, so it is hidden from readers."""
    return format_html(
        '<svg class="{}" aria-hidden="true"><use href="{}#{}"></use></svg>',
        css,
        static("icons/sprite.svg"),
        name,
    )


@register.filter
def initials(name: str) -> str:
    """Returns one or two letters of a name."""
    words = [word for word in str(name).replace("-", " ").split() if word[0].isalnum()]
    letters = [word[0] for word in words]
    return "".join(letters[:1] + letters[1:][-1:]).upper() or "?"


@register.filter
def for_reader(words: str, reader: Actor | None) -> str:
    """Returns what is said about the reader as said to them: `Needs Ana Ruiz` reads `Needs you`."""
    if reader is None or not reader.name:
        return words
    for verb in ("Needs", "Waiting on"):
        if words.startswith(f"{verb} {reader.name}"):
            return f"{verb} you{words[len(verb) + 1 + len(reader.name) :]}"
    return words


@register.filter
def lower_first(words: str) -> str:
    """Returns the words as they stand inside a sentence."""
    return f"{words[:1].lower()}{words[1:]}"


@register.simple_tag
def avatar(party: Party | None, size: str = "md") -> SafeString:
    """Draws who it is by shape: agents are squircles, people circles, nobody a dashed ring."""
    if not party:
        return format_html('<span class="av none" data-size="{}" aria-hidden="true"></span>', size)
    kind = party.get("kind", "agent")
    shape = "human" if kind in ("human", "person") else kind
    letters = initials(str(party.get("name") or party.get("handle", "")))
    return format_html(
        '<span class="av" data-kind="{}" data-size="{}" aria-hidden="true">{}</span>',
        shape,
        size,
        letters,
    )


@register.simple_tag
def status_mark(group: str, status: str = "") -> SafeString:
    """Draws the ring of a status: its group, and review apart from progress."""
    shapes = {"not_started": "todo", "active": "doing", "done": "done", "closed": "closed"}
    shape = "review" if status == "in_review" else shapes.get(group, "todo")
    return format_html(
        '<svg class="stg" data-s="{0}" aria-hidden="true"><use href="{1}#s-{0}"></use></svg>',
        shape,
        static("icons/sprite.svg"),
    )


@register.simple_tag
def priority_mark(priority: str) -> SafeString:
    """Draws the bars of a priority."""
    shape = {"normal": "medium", "": "none"}.get(priority, priority)
    return format_html(
        '<svg class="prio" data-p="{0}" aria-hidden="true"><use href="{1}#p-{0}"></use></svg>',
        shape,
        static("icons/sprite.svg"),
    )


# -- time -----------------------------------------------------------------------------------------


def spell_seconds(seconds: float) -> str:
    """Returns `6:49`, or `1 h 04` from an hour on."""
    whole = max(0, int(seconds))
    hours, minutes, rest = whole // _HOUR, whole % _HOUR // _MINUTE, whole % _MINUTE
    return f"{hours} h {minutes:02}" if hours else f"{minutes}:{rest:02}"


@register.simple_tag
def elapsed(seconds: float | None, name: str = "") -> SafeString:
    """Draws a running clock; the server prints its first value."""
    if seconds is None:
        return format_html('<cw-elapsed class="num" data-f="{}" hidden></cw-elapsed>', "secs")
    return format_html(
        '<cw-elapsed class="num" data-f="secs" data-secs="{}"{}>{}</cw-elapsed>',
        int(seconds),
        format_html(' aria-label="{}"', name) if name else "",
        spell_seconds(seconds),
    )


register.filter("clock", spell_seconds)


@register.filter
def millis(value: int | None) -> str:
    """Returns `0.4 s`, `2:07`, or nothing for unknown."""
    if value is None:
        return ""
    return f"{value / 1000:.1f} s" if value < _MINUTE * 1000 else spell_seconds(value / 1000)


@register.simple_tag(takes_context=True)
def when(context: Context, at: datetime | date | None) -> SafeString | str:
    """Draws an instant as a reader needs it: a time today, else a day; the title has all."""
    if at is None:
        return ""
    if not isinstance(at, datetime):
        return format_html('<time datetime="{}">{}</time>', at.isoformat(), f"{at.day} {at:%b}")
    zone = _zone(context)
    here, now = at.astimezone(zone), clock.now().astimezone(zone)
    days = (now.date() - here.date()).days
    if days == 0:
        words = f"{here:%H:%M}"
    elif 0 < days < 7:  # noqa: PLR2004  # within the week a weekday is unambiguous
        words = f"{here:%a %H:%M}"
    else:
        words = _day(here, now, _date_style(context))
    return format_html(
        '<time class="num" datetime="{}" title="{}">{}</time>',
        at.isoformat(),
        f"{here:%a} {here.day} {here:%b %Y, %H:%M:%S} {here.tzname()}",
        words,
    )


@register.filter
def ago(at: datetime | None) -> str:
    """Returns `6 min ago`."""
    if at is None:
        return ""
    seconds = max(0, int((clock.now() - at).total_seconds()))
    if seconds < _MINUTE:
        return "just now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE} min ago"
    if seconds < _DAY:
        return f"{seconds // _HOUR} h ago"
    days = seconds // _DAY
    return "1 day ago" if days == 1 else f"{days} days ago"


def _date_style(context: Context) -> str:
    frame = context.get("frame")
    return str(frame.preferences.get("date_style", "")) if frame is not None else ""


def _day(here: datetime, now: datetime, style: str) -> str:
    """Says a day as the reader writes days; this year's needs no year, but in the ISO form."""
    if style == "iso":
        return f"{here:%Y-%m-%d}"
    year = "" if here.year == now.year else f"{here:, %Y}" if style == "us" else f"{here: %Y}"
    return f"{here:%b} {here.day}{year}" if style == "us" else f"{here.day} {here:%b}{year}"


def _zone(context: Context) -> ZoneInfo:
    frame = context.get("frame")
    zone: ZoneInfo = frame.zone if frame is not None else ZoneInfo("UTC")
    return zone


# -- figures --------------------------------------------------------------------------------------


@register.filter
def kb(size: int) -> str:
    """Returns bytes in words a reader compares: `412 B`, `7.2 KB`."""
    return f"{size / _KIB:.1f} KB" if size >= _KIB else f"{size} B"


@register.filter
def tokens(count: int | None) -> str:
    """Returns `41.2k` or `18.4M`; nothing for unknown."""
    if count is None:
        return ""
    for size, letter in ((_MILLION, "M"), (_THOUSAND, "k")):
        if count >= size:
            return f"{count / size:.1f}".removesuffix(".0") + letter
    return str(count)


@register.simple_tag
def plural(count: int, one: str, many: str = "") -> str:
    """Returns `1 turn`, `3 turns`; zero reads `no turns`."""
    word = one if count == 1 else many or f"{one}s"
    return f"{count or 'no'} {word}"


@register.simple_tag
def bar(percent: float | None, kind: str = "work") -> SafeString:
    """Draws a thin bar filled to a percentage; it is decoration, the figure stands beside it."""
    return format_html(
        '<svg class="bar-m" data-kind="{}" aria-hidden="true">'
        '<rect class="bar-bg" width="100%" height="100%"></rect>'
        '<rect class="bar-fg" width="{}%" height="100%"></rect></svg>',
        kind,
        f"{min(100.0, max(0.0, percent or 0)):g}",
    )


@register.simple_tag
def meter(percent: float | None, kind: str, name: str) -> SafeString:
    """Draws a bar that a screen reader hears as one sentence."""
    return format_html(
        '<span class="meter" role="img" aria-label="{}">{}</span>', name, bar(percent, kind)
    )


@register.simple_tag
def stack(rows: Sequence[Sequence[int]], height: int = 40) -> SafeString:
    """Draws stacked columns, one per row of counts; an empty one is a hairline."""
    most = max((sum(row) for row in rows), default=0) or 1
    step = 100 / max(1, len(rows))
    shapes: list[tuple[str, str, str, str, str]] = []
    for index, row in enumerate(rows):
        left, wide = f"{index * step + 0.35:.2f}", f"{step - 0.7:.2f}"
        bottom = float(height)
        if not sum(row):
            shapes.append(("d0", left, f"{height - 1}", wide, "1"))
        for series, count in enumerate(row, start=1):
            if count:
                tall = count / most * (height - 2)
                bottom -= tall
                shapes.append((f"d{series}", left, f"{bottom:.1f}", wide, f"{tall:.1f}"))
    columns = format_html_join(
        "", '<rect class="{}" x="{}%" y="{}" width="{}%" height="{}"></rect>', shapes
    )
    return format_html(
        '<svg class="stack" height="{}" aria-hidden="true">{}</svg>', height, columns
    )


@register.simple_tag
def spark(values: Sequence[float], width: int = 272, height: int = 36) -> SafeString | str:
    """Draws a line of values; fewer than two make no line."""
    if len(values) < 2:  # noqa: PLR2004
        return ""
    most = max(values) or 1
    points = " ".join(
        f"{index / (len(values) - 1) * width:.1f},{height - 2 - value / most * (height - 4):.1f}"
        for index, value in enumerate(values)
    )
    return format_html(
        '<svg class="spark" width="{0}" height="{1}" viewBox="0 0 {0} {1}" '
        'preserveAspectRatio="none" aria-hidden="true"><polyline points="{2}"></polyline></svg>',
        width,
        height,
        points,
    )


# -- writing --------------------------------------------------------------------------------------


@register.filter
def markdown(text: str) -> SafeString:
    """Renders what somebody wrote."""
    return to_html(text or "")


@register.simple_tag(takes_context=True)
def act_fields(context: Context, next_url: str = "") -> SafeString:
    """Writes what every form of an action carries: token, operation id, where next, refusals.

    Without `next_url` the reader stays on the page.
    """
    request = context["request"]
    return format_html(
        '<input type="hidden" name="csrfmiddlewaretoken" value="{}">'
        '<input type="hidden" name="op_id" value="{}">'
        '<input type="hidden" name="next" value="{}">'
        '<div class="form-err" data-err></div>',
        get_token(request),
        new_id(),
        next_url,
    )
