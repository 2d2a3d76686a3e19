"""Templates obey the content policy: no inline style, no inline script."""

from __future__ import annotations

import re

import pytest

from tests.rules.source import tell, templates

TAG = re.compile(r"<[a-zA-Z][^<>]*>", re.DOTALL)
BREAKS = {
    "style=": re.compile(r"\sstyle\s*=", re.IGNORECASE),
    "an on… attribute": re.compile(r"\son[a-z]+\s*=", re.IGNORECASE),
    "hx-on": re.compile(r"\shx-on\b", re.IGNORECASE),
    "js: in a value": re.compile(r"=\s*[\"']\s*js:", re.IGNORECASE),
    "javascript:": re.compile(r"=\s*[\"']\s*javascript:", re.IGNORECASE),
    "a trigger filter": re.compile(r"\shx-trigger\s*=\s*[\"'][^\"']*\[", re.IGNORECASE),
}
INLINE_SCRIPT = re.compile(r"<script(?![^>]*\bsrc=)(?![^>]*application/json)[^>]*>", re.IGNORECASE)
INLINE_STYLE = re.compile(r"<style\b", re.IGNORECASE)
COMMENT = re.compile(r"{#.*?#}|{%\s*comment.*?endcomment\s*%}|<!--.*?-->", re.DOTALL)


def _breaks(text: str) -> list[str]:
    bare = COMMENT.sub("", text)
    found = [
        f"{name} in {' '.join(tag.split())[:80]}"
        for tag in TAG.findall(bare)
        for name, pattern in BREAKS.items()
        if pattern.search(tag)
    ]
    found += ["an inline script"] * len(INLINE_SCRIPT.findall(bare))
    found += ["an inline style sheet"] * len(INLINE_STYLE.findall(bare))
    return found


def test_no_template_breaks_the_content_policy() -> None:
    tell(
        [f"{path}: {problem}" for path, text in templates() for problem in _breaks(text)],
        "The policy is script-src 'self'; style-src 'self'. Put style into a class in static/css, "
        "behaviour into a custom element in static/js, data into data-* attributes.",
    )


@pytest.mark.parametrize(
    "text",
    [
        '<p style="color:red">',
        '<a\n  onclick="go()">',
        '<div hx-on:click="go()">',
        "<div hx-vals='js:{a: 1}'>",
        '<div hx-trigger="click[ctrlKey]">',
        "<script>go()</script>",
        "<style>p{}</style>",
    ],
)
def test_the_rule_sees_what_the_policy_forbids(text: str) -> None:
    assert len(_breaks(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        '<script type="module" src="/static/app.js"></script>',
        '<script type="application/json" id="rows">[]</script>',
        '<p class="style-on" data-once="1">',
        "{# style= #}",
    ],
)
def test_the_rule_lets_good_markup_pass(text: str) -> None:
    assert _breaks(text) == []
