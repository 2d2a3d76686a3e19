"""Renders what people and models write: CommonMark, raw HTML shown as text, safe links only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import nh3
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from crewlet.kernel.refs import url_of

_ALLOWED = {
    *("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "pre", "code"),
    *("ul", "ol", "li", "em", "strong", "s", "a", "bdi"),
    *("table", "thead", "tbody", "tr", "th", "td"),
}
_BLOCKS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "li", "th", "td")
_ATTRIBUTES = {
    "a": {"href", "title", "class"},
    "bdi": {"class"},
    "ol": {"start"},
    **{block: {"dir"} for block in _BLOCKS},
}
_SCHEMES = {"http", "https", "mailto"}
_MARKS = re.compile(r"(?<![\w@/.])@([a-z][a-z0-9_.-]*[a-z0-9])|\b([A-Z][A-Z0-9]{1,9}-\d+)\b")


def to_html(text: str) -> SafeString:
    """Returns safe HTML; mentions and item keys are marked, and isolated from the direction of the
    text around them, where they stand in plain text.
    """
    html = _READER.render(text)
    clean = nh3.clean(
        html,
        tags=_ALLOWED,
        attributes=_ATTRIBUTES,
        url_schemes=_SCHEMES,
        link_rel="noopener noreferrer",
    )
    return mark_safe(clean)  # noqa: S308  # cleaned in the line above


def _words(
    renderer: RendererHTML, tokens: Sequence[Token], index: int, options: Any, env: Any
) -> str:
    text = escape(tokens[index].content)
    opened = sum({"link_open": 1, "link_close": -1}.get(token.type, 0) for token in tokens[:index])
    return text if opened else _MARKS.sub(_mark, text)


def _mark(found: re.Match[str]) -> str:
    handle, key = found.groups()
    if handle:
        return f'<bdi class="mention">@{handle}</bdi>'
    url = url_of(f"item:{key}")
    return f'<bdi><a class="key" href="{escape(url)}">{key}</a></bdi>' if url else key


def _directed(state: StateCore) -> None:
    """Lets each block take the direction of its own first strong letter."""
    for token in state.tokens:
        if token.nesting == 1 and token.tag in _BLOCKS:
            token.attrSet("dir", "auto")


def _reader() -> MarkdownIt:
    reader = MarkdownIt("commonmark", {"html": False, "breaks": True})
    reader.enable(["table", "strikethrough"]).disable("image")
    reader.add_render_rule("text", _words)
    reader.core.ruler.push("direction", _directed)
    return reader


_READER = _reader()
