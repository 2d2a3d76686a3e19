"""The tokenizer and the snippet: what a text and a query have in common."""

from __future__ import annotations

import pytest

from crewlet.search.snippet import SNIPPET_BYTES, snippet
from crewlet.search.words import LONGEST_TERM, terms


@pytest.mark.covers("KNOW-27")
@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("see ENG-412.", "eng-412", {"eng", "412"}),
        ("ERR_CONN_RESET!", "err_conn_reset", {"err", "conn", "reset"}),
        ("since v1.2.3,", "v1.2.3", {"v1", "2", "3"}),
        ("open /src/lamp/main.py:", "src/lamp/main.py", {"src", "lamp", "main", "py"}),
    ],
)
def test_identifiers_stand_whole_and_in_parts(text: str, whole: str, parts: set[str]) -> None:
    assert {whole, *parts} <= set(terms(text))


@pytest.mark.covers("KNOW-27")
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("strasse", "Straße"), ("cafe", "café"), ("naïve", "naive"), ("売上", "今月の売上"),
        ("测试", "这是一个测试"), ("번역", "번역을 부탁해"), ("部署", "go deployment 部署方案"),
        ("C++", "C++ style guide"), ("🔥", "🔥 sale"), ("PAY-3", "pay-3"),
    ],
)  # fmt: skip
def test_a_query_meets_its_text_whatever_the_script(query: str, text: str) -> None:
    wanted = set(terms(query))
    assert wanted
    assert wanted <= set(terms(text))


def test_marks_alone_are_no_terms_and_a_long_one_stays_one() -> None:
    assert terms('%_\\ \'); -- ""') == []
    (long,) = terms("a" * 5000)
    assert len(long) <= LONGEST_TERM
    assert [long] != terms("a" * 5001)
    assert "が" in terms("が")


@pytest.mark.covers("KNOW-35")
@pytest.mark.parametrize("place", [0, 40, 100])
def test_a_snippet_is_at_most_200_bytes_around_the_first_match(place: int) -> None:
    words = ["füll"] * 100
    words.insert(place, "Lantern")
    piece = snippet(" ".join(words), terms("lantern"))
    assert len(piece.encode()) <= SNIPPET_BYTES
    assert "Lantern" in piece
    assert piece.startswith("…") is (place > 0)
    assert piece.endswith("…") is (place < 100)
    middle = piece.encode().index(b"Lantern")
    assert place != 40 or abs(middle - SNIPPET_BYTES // 2) < 20
    assert snippet("A short text", terms("short")) == "A short text"
