"""The cells of the one grid, written in Python: a long list has thousands of them, and a template
takes twenty times as long for each.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import template
from django.template.context import Context
from django.utils.html import conditional_escape
from django.utils.safestring import SafeString, mark_safe

from crewlet.console.templatetags.ui import avatar, bar, when

register = template.Library()
Cell = Mapping[str, Any]


@register.simple_tag(takes_context=True)
def grid_cells(context: Context, cells: list[Cell]) -> SafeString:
    """Draws the cells of one row as `crewlet.console.grid` shapes them."""
    # Every value passes `_safe`; what stands around them is written here.
    return mark_safe("".join(_cell(context, cell) for cell in cells))  # noqa: S308


def _safe(value: Any) -> str:
    return str(conditional_escape(value))


def _cell(context: Context, cell: Cell) -> str:
    column = cell["column"]
    flags = " data-wide" if column.wide else ""
    if cell["absent"]:
        flags += " data-absent"
    if column.num:
        flags += ' class="r num"'
    if cell["title"]:
        flags += f' title="{_safe(cell["title"])}"'
    inner = '<span class="vh">None</span>' if cell["absent"] else _inner(context, cell)
    return (
        f'<td data-label="{_safe(column.label)}" data-keep="{column.keep}" '
        f'data-kind="{column.kind}"{flags}>{inner}</td>'
    )


def _inner(context: Context, cell: Cell) -> str:
    text = cell["text"]
    shown = when(context, text) if cell["time"] else _safe("" if text is None else text)
    if cell["url"]:
        peek = f' data-peek="{_safe(cell["peek"])}"' if cell["peek"] else ""
        shown = f'<a href="{_safe(cell["url"])}"{peek} dir="auto">{shown}</a>'
    if cell["tone"]:
        shown = f'<span class="chip" data-tone="{_safe(cell["tone"])}">{shown}</span>'
    parts = [
        avatar(cell["who"], "xs") if cell["who"] else "",
        _safe(cell["glyph"]) if cell["glyph"] else "",
        shown,
        f' <span class="tag">{_safe(cell["tag"])}</span>' if cell["tag"] else "",
        bar(cell["bar"]) if cell["bar"] is not None else "",
    ]
    return "".join(parts)
