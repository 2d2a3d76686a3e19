"""A slug for any text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crewlet.kernel.slugs import LONGEST, free_slug, slug_of


@pytest.mark.parametrize(
    ("title", "slug"),
    [
        ("Release notes 2.0", "release-notes-2-0"),
        ("Onboarding", "onboarding"),
        ("onboarding!", "onboarding"),
        ("été", "ete"),
        ("e\u0301te\u0301", "ete"),
        ("設計", "設計"),
        ("日本語 テスト", "日本語-テスト"),
        ("ทดสอบไทยล้วน", "ทดสอบไทยล้วน"),
        ("Гильдии", "гильдии"),
        ("../../etc/passwd", "etc-passwd"),
        ("a/b\\c:d*e?", "a-b-c-d-e"),
        ("don't", "dont"),
    ],
)
def test_a_text_has_a_readable_slug(title: str, slug: str) -> None:
    """K04."""
    assert slug_of(title) == unicodedata.normalize("NFC", slug)


def test_a_text_without_a_letter_has_one_of_its_own_and_a_devices_name_is_none() -> None:
    """K04: 🤔 and 🎉 are two pages, each under its own address."""
    assert slug_of("🤔") != slug_of("🎉")
    assert slug_of("🤔") == slug_of("🤔")
    assert slug_of("CON") != "con"
    assert slug_of("CON").startswith("con-")


def test_an_equal_slug_gets_a_number_behind_it() -> None:
    """K04."""
    taken: list[str] = []
    for _ in range(3):
        taken.append(free_slug("Onboarding", taken))
    assert taken == ["onboarding", "onboarding-2", "onboarding-3"]
    long = free_slug("a" * 300, ["a" * LONGEST])
    assert (len(long), long[-2:]) == (LONGEST, "-2")


@given(st.text(max_size=200))
def test_every_text_at_all_has_a_slug_that_is_safe_in_an_address(text: str) -> None:
    """K04."""
    slug = slug_of(text)
    assert 1 <= len(slug) <= LONGEST + 9
    assert not set(slug) & set('/\\.:*?"<>| \n\0')
    assert slug[0] != "-"
    assert slug[-1] != "-"
