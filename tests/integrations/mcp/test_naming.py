"""Names and hints of tools: what fits stays, what does not is made to fit and stays apart."""

from __future__ import annotations

import re

import pytest

from integrations.mcp.naming import hints_of, overridden, tool_name
from integrations.mcp.results import result_of

FITS = re.compile(r"[A-Za-z0-9_-]{1,64}")


def test_a_name_that_fits_is_kept() -> None:
    assert tool_name("box", "gh_list-issues") == "gh_list-issues"


def test_names_that_vendors_refuse_are_made_to_fit_and_never_meet() -> None:
    names = ["admin.list", "admin/list", "admin list", "admin_list", "x" * 90, "x" * 91, "é", ""]
    made = [tool_name("box", name) for name in names]
    assert all(FITS.fullmatch(name) for name in made)
    assert len(set(made)) == len(names)
    assert made == [tool_name("box", name) for name in names], "the same name for ever"
    assert tool_name("box", "a/b") != tool_name("other", "a/b")


@pytest.mark.covers("TURN-33")
def test_a_hint_is_yes_no_or_unknown_and_the_company_goes_before_the_server() -> None:
    told = hints_of({"readOnlyHint": False, "destructiveHint": "no", "idempotentHint": None})
    assert told == {
        "read_only": "no", "destructive": "unknown", "idempotent": "unknown",
        "open_world": "unknown",
    }  # fmt: skip
    assert set(hints_of("nonsense").values()) == {"unknown"}
    rules = {
        "wipe": {"readOnlyHint": True, "openWorldHint": False},
        "gh_wipe": {"readOnlyHint": False},
    }
    assert overridden(told, rules, "wipe", "gh_wipe") == {
        "read_only": "no", "destructive": "unknown", "idempotent": "unknown", "open_world": "no",
    }  # fmt: skip


def test_long_text_of_words_and_code_goes_through_whole() -> None:
    words = "\n".join(f"def function_{n}(a, b): return a + b" for n in range(2000))
    digests = "\n".join("a3" * 32 + f"  file-{n}" for n in range(500))
    for text in (words, digests, "a" * 4000):
        assert result_of({"content": [{"type": "text", "text": text}]}).text == text


def test_what_is_no_text_is_named_by_kind_and_size() -> None:
    content = [
        {"type": "resource", "resource": {"uri": "file:///a.pdf", "blob": "QUJD" * 3000}},
        {"type": "resource", "resource": {"uri": "file:///b.txt", "text": "hello"}},
        {"type": "resource_link", "name": "c", "uri": "file:///c"},
        {"type": "audio", "mimeType": "audio/wav", "data": "QUJD" * 3000},
    ]
    text = result_of({"content": content}).text
    assert "file file:///a.pdf, of unknown type, about 9,000 bytes" in text
    assert "file:///b.txt\nhello" in text
    assert "c: file:///c" in text
    assert "audio, audio/wav" in text
    assert result_of({"structuredContent": {"a": 1}}).text == '{\n "a": 1\n}'
    assert result_of({"isError": True}).text == "It failed and said nothing more."


def test_the_very_values_a_server_was_given_never_come_back() -> None:
    answer = {"content": [{"type": "text", "text": "token=abc12345xyz ok"}]}
    assert result_of(answer, ["abc12345xyz"]).text == "token=[redacted] ok"
