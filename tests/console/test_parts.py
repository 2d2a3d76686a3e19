"""The small parts: what they write, and what they never write."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.template import engines

from crewlet.console.markdown import to_html
from crewlet.console.templatetags import ui
from crewlet.kernel import refs
from crewlet.kernel.registry import thawed

NOW = datetime(2026, 11, 29, 14, 5, tzinfo=UTC)


def drawn(source: str, **context: Any) -> str:
    """Renders a piece of template."""
    return engines["django"].from_string(source).render(context)


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0:00"), (41, "0:41"), (409, "6:49"), (3840, "1 h 04")]
)
def test_seconds_are_spelled_as_a_clock(seconds: int, words: str) -> None:
    assert ui.spell_seconds(seconds) == words


def test_figures_are_short_and_unknown_is_absent() -> None:
    assert [ui.tokens(n) for n in (7, 41_200, 40_000_000, None)] == ["7", "41.2k", "40M", ""]
    assert [ui.kb(n) for n in (412, 7372)] == ["412 B", "7.2 KB"]
    assert ui.millis(None) == ""
    assert ui.millis(21_700) == "21.7 s"


@pytest.mark.covers("UI-29")
def test_shapes_tell_agents_from_people_and_nobody() -> None:
    agent = ui.avatar({"name": "Kofi Mensah", "kind": "agent"})
    person = ui.avatar({"name": "Ana Ruiz", "kind": "person"})
    assert 'data-kind="agent"' in agent
    assert ">KM<" in agent
    assert 'data-kind="human"' in person
    assert "none" in ui.avatar(None)


def test_a_name_cannot_break_out_of_its_avatar() -> None:
    assert "<b>" not in ui.avatar({"name": "<b>x", "kind": '"><b>'})


def test_a_bar_is_clamped_and_writes_no_style() -> None:
    html = ui.bar(340, "stop")
    assert 'width="100%"' in html
    assert "style" not in html + ui.stack([(1, 2, 3), (0, 0, 0)]) + str(ui.spark([1, 2, 3]))


def test_columns_stand_for_every_bucket_also_the_empty_one() -> None:
    html = ui.stack([(2, 1, 0), (0, 0, 0)])
    assert html.count('class="d0"') == 1
    assert html.count('class="d1"') == 1
    assert html.count('class="d2"') == 1


def test_an_instant_is_a_time_today_and_a_day_before() -> None:
    with time_machine.travel(NOW, tick=False):
        assert ">13:52</time>" in drawn(
            "{% load ui %}{% when at %}", at=NOW - timedelta(minutes=13)
        )
        assert ">Sat 14:05</time>" in drawn(
            "{% load ui %}{% when at %}", at=NOW - timedelta(days=1)
        )
        assert ">12 Oct</time>" in drawn(
            "{% load ui %}{% when at %}", at=NOW.replace(month=10, day=12)
        )
        assert ">5 Dec</time>" in drawn("{% load ui %}{% when at %}", at=date(2026, 12, 5))
        assert drawn("{% load ui %}{% when at %}", at=None) == ""
        assert [ui.ago(NOW - timedelta(seconds=s)) for s in (5, 360, 7200, 86400)] == [
            "just now", "6 min ago", "2 h ago", "1 day ago",
        ]  # fmt: skip


@pytest.mark.covers("UI-30")
def test_raw_html_and_unsafe_links_are_inert() -> None:
    html = to_html("<script>x</script> [a](javascript:alert(1)) [b](https://example.org)")
    assert "<script" not in html
    assert "javascript:" not in html.replace("(javascript:alert(1))", "")
    assert 'href="https://example.org"' in html
    assert "noopener" in html


def test_mentions_and_keys_are_marked_in_text_and_not_in_code_or_links() -> None:
    kind = refs.RefKind(label=str, url=lambda key: f"/work/{key}", exists=lambda key: True)
    with thawed(refs.REF_KINDS):
        if "item" not in refs.REF_KINDS:
            refs.REF_KINDS.register("item", kind)
        html = to_html("@kofi see ENG-12, `@kofi ENG-12`, [ENG-13](/x), a@kofi.org")
    assert html.count('class="mention"') == 1
    assert html.count('href="/work/ENG-12"') == 1
    assert "/work/ENG-13" not in html


def test_a_form_carries_its_token_its_operation_and_a_place_for_refusals(rf: Any) -> None:
    source = "{% load ui %}{% act_fields '{ref}' %}"
    one = drawn(source, request=rf.get("/"))
    two = drawn(source, request=rf.get("/"))
    assert 'name="csrfmiddlewaretoken"' in one
    assert "data-err" in one
    assert 'name="next" value="{ref}"' in one
    assert one.split('name="op_id" value="')[1][:36] != two.split('name="op_id" value="')[1][:36]
