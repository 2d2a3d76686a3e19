"""Charts: columns of counts, in one band or several, and the meter of a budget window.

Geometry is SVG attributes in percent, for the content policy forbids inline style. Every chart says
its numbers and their scope in one sentence, and every column is drawn, an empty one as a hairline.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from crewlet.console.templatetags.ui import meter as plain_meter
from crewlet.console.templatetags.ui import tokens as spelled_tokens

register = template.Library()

# The server's word for a window, as the colour of its bar and as a reader says it.
_TONES = {"ok": "done", "near": "need", "refusing": "stop"}
_WORDS = {"ok": "has room", "near": "nearly used up", "refusing": "used up, calls are refused"}
_GAP = 0.18  # of a column's width
Columns = Sequence[Mapping[str, Any]]


@register.simple_tag
def stacked(
    bands: Sequence[str], columns: Columns, scope: str, unit: str = "tokens", height: int = 120
) -> SafeString:
    """Draws a column per bucket, its bands upon each other, under a legend.

    A column is {"label", "values"}, one value a band; None is unknown and drawn as a gap mark. One
    with a `url` opens it when pressed; the same links stand in a list below, for the keyboard.
    `scope` says what is counted and over which time; the sentence of the chart begins with it.
    """
    legend = format_html_join(
        "", '<li><i class="b{}"></i>{}</li>', ((n, name) for n, name in enumerate(bands, 1))
    )
    return format_html(
        '<figure class="bands">{}<figcaption><ul class="keys-of">{}</ul>{}</figcaption></figure>',
        _drawing(bands, columns, scope, unit, height),
        legend,
        _links(bands, columns, unit),
    )


def _links(bands: Sequence[str], columns: Columns, unit: str) -> SafeString:
    if not any(column.get("url") for column in columns):
        return SafeString("")
    rows = format_html_join(
        "",
        '<li><a href="{}">{}</a></li>',
        ((column["url"], _told(bands, column, unit)) for column in columns if column.get("url")),
    )
    return format_html(
        '<details class="chart-list"><summary>As a list</summary><ol>{}</ol></details>', rows
    )


def _told(bands: Sequence[str], column: Mapping[str, Any], unit: str) -> str:
    """Returns a column in words: its label, then every band that has something."""
    say = _speller(unit)
    told = ", ".join(
        f"{name} {'unknown' if value is None else say(value)}"
        for name, value in zip(bands, column["values"], strict=True)
        if value is None or value
    )
    return f"{column['label']}: {told or f'no {unit}'}"


@register.simple_tag
def bars(columns: Columns, scope: str, unit: str, height: int = 64) -> SafeString:
    """Draws a column per bucket; a column is {"label", "values"} with one value."""
    return format_html(
        '<figure class="bands">{}</figure>', _drawing((unit,), columns, scope, unit, height)
    )


@register.simple_tag
def budget_meter(window: Mapping[str, Any], name: str) -> SafeString:
    """Draws a budget window by the state that the server gave it; without a ceiling, no bar."""
    if window.get("limit") is None:
        return format_html('<p class="sub">{}</p>', "No ceiling")
    used, limit, state = window["used"], window["limit"], window["state"]
    words = (
        f"{name}: {spelled_tokens(used)} of {spelled_tokens(limit)} tokens used, "
        f"{_WORDS.get(state, state)}"
    )
    return plain_meter((window["share"] or 0) * 100, _TONES.get(state, "neutral"), words)


@register.filter
def state_word(state: str) -> str:
    """Returns what a budget state means."""
    return _WORDS.get(state, state)


@register.filter
def state_tone(state: str) -> str:
    """Returns the tone of a budget state."""
    return _TONES.get(state, "")


@register.filter
def share(fraction: float | None) -> str:
    """Returns `34 %`, `< 1 %` for the least, nothing for unknown."""
    if fraction is None:
        return ""
    percent = fraction * 100
    return "< 1 %" if 0 < percent < 1 else f"{percent:.0f} %"


@register.filter
def in_words(at: datetime) -> str:
    """Returns the day and time of an instant in the zone it carries."""
    return f"{at:%a} {at.day} {at:%b %H:%M}"


def sentence(columns: Columns, scope: str, unit: str) -> str:
    """Returns the chart in words: the scope, the sum, the most, and how many are unknown."""
    sums = [(column["label"], _sum(column["values"])) for column in columns]
    known = [(label, count) for label, count in sums if count is not None]
    say = _speller(unit)
    if not any(count for _, count in known):
        words = f"{scope}: no {unit}"
    else:
        label, most = max(known, key=lambda entry: entry[1])
        words = (
            f"{scope}: {say(sum(count for _, count in known))} {unit}, most {say(most)} on {label}"
        )
    missing = len(sums) - len(known)
    return f"{words}; {missing} unknown" if missing else words


def _drawing(
    bands: Sequence[str], columns: Columns, scope: str, unit: str, height: int
) -> SafeString:
    most = max((_sum(column["values"]) or 0 for column in columns), default=0) or 1
    step = 100 / max(1, len(columns))
    drawn = []
    for index, column in enumerate(columns):
        left, wide = f"{index * step + step * _GAP / 2:.2f}", f"{step * (1 - _GAP):.2f}"
        parts = _column(column["values"], most, left, wide)
        if column.get("url"):
            # The whole height takes the press; out of the order of tabs, which the list is in.
            parts = format_html(
                '<a href="{}" tabindex="-1" aria-hidden="true">'
                '<rect class="hit" x="{}%" y="0%" width="{}%" height="100%"></rect>{}</a>',
                column["url"], f"{index * step:.2f}", f"{step:.2f}", parts,
            )  # fmt: skip
        drawn.append((_told(bands, column, unit), parts))
    return format_html(
        '<svg role="{}" height="{}" aria-label="{}">{}</svg>',
        # An image may hold nothing that can be pressed.
        "group" if any(column.get("url") for column in columns) else "img",
        height,
        sentence(columns, scope, unit),
        format_html_join("", "<g><title>{}</title>{}</g>", drawn),
    )


def _column(values: Sequence[int | None], most: int, left: str, wide: str) -> SafeString:
    whole = _sum(values)
    if whole is None or not whole:
        css = "b0" if whole == 0 else "unknown"
        return format_html(
            '<rect class="{}" x="{}%" y="98.5%" width="{}%" height="1.5%"></rect>', css, left, wide
        )
    shapes, bottom = [], 100.0
    for number, value in enumerate(values, 1):
        if value:
            tall = value / most * 96
            bottom -= tall
            shapes.append((f"b{number}", left, f"{bottom:.2f}", wide, f"{tall:.2f}"))
    return format_html_join(
        "", '<rect class="{}" x="{}%" y="{}%" width="{}%" height="{}%"></rect>', shapes
    )


def _sum(values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known or not values else None


def _speller(unit: str) -> Callable[[int], str]:
    return spelled_tokens if unit == "tokens" else str
