"""Text is read as it was typed, and what cannot be read is told with its line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orgs.document.source import MAX_BYTES, MAX_DEPTH, read
from orgs.document.writing import to_yaml


@pytest.mark.parametrize(
    "word", ["off", "no", "yes", "on", "y", "09:30", "1_000", "010", "1e3", "2026-01-01", "0x1f"]
)
def test_a_plain_word_stays_the_word_that_was_typed(word: str) -> None:
    source = read(f"name: {word}\n")
    assert source.data == {"name": word}
    assert source.problems == []


def test_a_switch_word_may_be_a_key() -> None:
    assert read("notify: {on: x, no: y}\n").data == {"notify": {"on": "x", "no": "y"}}


def test_numbers_truths_and_emptiness_are_what_yaml_means() -> None:
    data = read("a: 12\nb: -3\nc: 1.5\nd: true\ne: False\nf: ~\ng:\nh: '12'\n").data
    assert data == {
        "a": 12, "b": -3, "c": 1.5, "d": True, "e": False, "f": None, "g": None, "h": "12",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "path", "line", "words"),
    [
        ("name: x\nroles:\n\t- y\n", "", 3, "tab"),
        ("name: x\nmission: key: a: b\n", "", 2, "quotes"),
        ("a: 1\nb: 2\na: 3\n", "a", 3, "line 1"),
        ("x:\n  - !!python/object/apply:os.system ['id']\n", "x[0]", 2, "Tags"),
        ("x: &a [*a]\n", "x", 1, "Anchors"),
        ("a: &b {c: 1}\nd:\n  <<: *b\n", 'd["<<"]', 3, "Merge"),
        ("a: 1\n---\nb: 2\n", "", 2, "second document"),
        ("", "", 1, "empty"),
        ("# only a comment\n", "", 1, "empty"),
        ("? [a, b]\n: c\n", "", 1, "key"),
        ("a: 'open\n", "", 1, "not YAML"),
        ('{"a": 1,', "", 1, "JSON"),
    ],
)
def test_what_cannot_be_read_is_told_with_its_place(
    text: str, path: str, line: int, words: str
) -> None:
    problems = read(text).problems
    told = [(p.path, p.line) for p in problems]
    assert (path, line) in told
    assert any(words in p.message for p in problems)


def test_the_first_of_two_equal_keys_stays() -> None:
    source = read("a: 1\na: {b: [2]}\nc: 3\n")
    assert source.data == {"a": 1, "c": 3}
    assert source.lines.of(("c",)) == 3


def test_bytes_that_are_not_text_and_too_much_of_it_are_refused() -> None:
    assert "UTF-8" in read(b"name: x\nmission: \xff\n").problems[0].message
    assert read(b"name: x\nmission: \xff\n").problems[0].line == 2
    assert "KiB" in read("a" * (MAX_BYTES + 1)).problems[0].message
    assert read("\ufeffname: x\n").data == {"name": "x"}


def test_a_well_of_brackets_is_refused_and_not_fallen_into() -> None:
    deep = MAX_DEPTH + 50
    for text in ("[" * deep + "]" * deep, "a: " + "[" * deep + "]" * deep):
        source = read(text)
        assert source.data is None
        assert source.problems


def test_every_place_has_its_line() -> None:
    lines = read("name: x\nroles:\n  - name: A\n    manages:\n      - b\n      - c\n").lines
    assert lines.of(("roles", 0, "manages", 1)) == 6
    assert lines.of(("roles", 0, "absent")) == 3


def test_json_is_read_by_its_own_rules_with_lines() -> None:
    source = read('{\n "name": "a\\/b",\n "roles": [\n  {"name": "\\ud83d\\ude00"}]}')
    assert source.data == {"name": "a/b", "roles": [{"name": "\U0001f600"}]}
    twice = read('{"a": 1, "a": 2}')
    assert [p.path for p in twice.problems] == ["a"]


_values = st.recursive(
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]), max_size=30)
    | st.integers(-(10**9), 10**9)
    | st.booleans(),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abcxyz", min_size=1), inner)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text("abcdef", min_size=1, max_size=5), _values, min_size=1, max_size=5))
def test_what_is_written_as_yaml_reads_back_equal(data: dict[str, object]) -> None:
    text = to_yaml(data)
    assert read(text).data == data
    assert read(json.dumps(data)).data == data


@pytest.mark.parametrize(
    "text",
    ["no", "~", "", " lead", "two\nlines", "two\nlines\n", "a: b", "# c", "1e3", "tab\there",
     "x\n\ny", "\n", "trail ", "line \nend", "'q'", "it's \"so\"", "ends:", "- dash", "${KEY}"],
)  # fmt: skip
def test_awkward_text_survives_the_way_through_yaml(text: str) -> None:
    assert read(to_yaml({"x": text, "l": [text]})).data == {"x": text, "l": [text]}
