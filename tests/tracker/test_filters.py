"""The query grammar understands or refuses by name."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given as generated
from hypothesis import settings
from hypothesis import strategies as st

from crewlet.kernel.errors import Invalid
from tracker.days import DAY_WORDS, NAMED, ONLY_DUE, DateTest, Span, read_date_test, span
from tracker.filters import (
    DATES,
    KEYS,
    Choice,
    Sort,
    parse_filters,
    write_cursor,
    write_filters,
)
from tracker.query_values import AXES, SORTS, TagTest, Total
from tracker.statuses import Priority, Status


def test_lists_negations_and_flags_are_read() -> None:
    filters = parse_filters(
        {"status": "!done,cancelled", "assignee": "@swe,me", "open_only": "true", "limit": "10",
         "sort": "-due", "container": "project:ENG", "tag": "none:late", "has_children": "0",
         "totals": "tokens:sum"}
    )  # fmt: skip
    assert filters.status == Choice(("done", "cancelled"), negated=True)
    assert filters.assignee == Choice(("swe", "me"))
    assert filters.project == Choice(("ENG",))
    assert filters.open_only
    assert filters.has_children is False
    assert filters.tag == TagTest("none", ("late",))
    assert filters.totals == (Total("tokens", "sum"),)
    assert (filters.limit, filters.sort) == (10, Sort("due", descending=True))


@pytest.mark.covers("TRK-19", "TRK-21")
@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"asignee": "swe"}, "Did you mean assignee"),
        ({"status": "finished"}, "finished"),
        ({"priority": "high,huge"}, "huge"),
        ({"sort": "titel"}, "Did you mean title"),
        ({"limit": "201"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"limit": "²"}, "limit"),
        ({"open_only": "perhaps"}, "open_only"),
        ({"container": "galaxy:far"}, "galaxy:far"),
        ({"cursor": "!!"}, "cursor"),
        ({"q": "x" * 401}, "q"),
        ({"status": ",".join(["todo"] * 17)}, "status"),
        ({"due": "soonish"}, "due: 'soonish'"),
        ({"due": "2026-02-30"}, "due: '2026-02-30'"),
        ({"due": "range:today"}, "range:today"),
        ({"due": "near:today"}, "near:today"),
        ({"updated": "overdue"}, "only due does"),
        ({"blocked": "true"}, "no dependencies"),
        ({"preset": "blocked"}, "no dependencies"),
        ({"preset": "triaje"}, "Did you mean triage"),
        ({"tag": "some:a"}, "some:"),
        ({"any": "[]"}, "JSON list"),
        ({"any": "[1]"}, "JSON list"),
        ({"any": '[{"any":"x"}]'}, "any: There is no filter 'any'"),
        ({"any": '[{"status":"finished"}]'}, "any: status knows no 'finished'"),
        ({"any": "[" + ",".join(['{"q":"a"}'] * 9) + "]"}, "1 to 8"),
        ({"group_by": "colour"}, "colour"),
        ({"group_by2": "status"}, "needs group_by"),
        ({"group_by": "status", "group_by2": "status"}, "group_by2"),
        ({"group": ""}, "group names one column"),
        ({"totals": "tokens:mode"}, "tokens:mode"),
        ({"show_closed": "recent:"}, "show_closed"),
        ({"closed_since": "lt:today"}, "closed_since"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(given: dict[str, str], names: str) -> None:
    """Unknown keys, values and presets, with the nearest that there is."""
    with pytest.raises(Invalid, match="(?s).*" + names.replace("[", r"\[")) as refusal:
        parse_filters(given)
    assert refusal.value.detail["field"] in given


def test_a_cursor_of_another_order_is_refused() -> None:
    cursor = write_cursor(Sort("due"), None, "x")
    assert parse_filters({"sort": "due", "cursor": cursor}).cursor == ("due", None, "x")
    with pytest.raises(Invalid, match="another sort order"):
        parse_filters({"sort": "rank", "cursor": cursor})


def test_empty_values_are_no_filters_but_the_empty_column_is_one() -> None:
    assert parse_filters({"status": "", "q": None, "assignee": []}) == parse_filters({})
    assert parse_filters({"group_by": "status"}).group is None
    assert parse_filters({"group_by": "tag", "group": ""}).group == ""


@pytest.mark.covers("TRK-21")
def test_what_is_typed_wins_over_a_preset() -> None:
    plain = parse_filters({"preset": "triage"})
    assert (plain.assignee, plain.open_only, plain.sort) == (
        Choice(("none",)), True, Sort("created"),
    )  # fmt: skip
    typed = parse_filters({"preset": "triage", "assignee": "me", "status": "done", "sort": "-due"})
    assert (typed.assignee, typed.open_only) == (Choice(("me",)), False)
    assert typed.sort == Sort("due", descending=True)
    assert len(parse_filters({"preset": "my_queue"}).any) == 2
    assert parse_filters({"preset": "my_queue", "assignee": "swe"}).any == ()


SUNDAY = date(2026, 3, 1)


@pytest.mark.covers("TRK-19", "TRK-28")
@pytest.mark.parametrize(
    ("written", "days"),
    [
        ("today", Span(SUNDAY, SUNDAY)),
        ("+3d", Span(date(2026, 3, 4), date(2026, 3, 4))),
        ("lt:today", Span(None, date(2026, 2, 28))),
        ("lte:-1w", Span(None, date(2026, 2, 22))),
        ("gt:2026-02-28", Span(SUNDAY, None)),
        ("gte:tomorrow", Span(date(2026, 3, 2), None)),
        ("range:sow..eow", Span(date(2026, 2, 23), SUNDAY)),
        ("next7", Span(SUNDAY, date(2026, 3, 8))),
        ("last7", Span(date(2026, 2, 22), SUNDAY)),
        ("thisweek", Span(date(2026, 2, 23), SUNDAY)),
        ("thismonth", Span(SUNDAY, date(2026, 3, 31))),
        ("lastmonth", Span(date(2026, 2, 1), date(2026, 2, 28))),
        ("overdue", Span(None, date(2026, 2, 28))),
    ],
)
def test_a_test_of_a_date_means_days_of_the_company(written: str, days: Span) -> None:
    """A week ends on its Sunday."""
    assert span(read_date_test("due", written), SUNDAY) == days


_word = st.text("abcdefgh-1234", min_size=1, max_size=8).filter(lambda text: text[0] != "-")
_day = st.one_of(
    st.sampled_from(DAY_WORDS),
    st.integers(1, 99).map(lambda n: f"+{n}d"),
    st.dates(date(2000, 1, 1), date(2099, 1, 1)).map(str),
)
_test = st.one_of(
    st.sampled_from([name for name in NAMED if name not in ONLY_DUE]).map(DateTest),
    st.tuples(st.sampled_from(["on", "lt", "lte", "gt", "gte"]), _day).map(lambda t: DateTest(*t)),
    st.tuples(_day, _day).map(lambda days: DateTest("range", *days)),
).map(str)


def _csv(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    parts = st.lists(values, min_size=1, max_size=4)
    return st.tuples(st.sampled_from(["", "!"]), parts).map(lambda t: t[0] + ",".join(t[1]))


_flag = st.sampled_from(["true", "false"])
_filter = {
    "status": _csv(st.sampled_from(list(Status)).map(str)),
    "priority": _csv(st.sampled_from(list(Priority)).map(str)),
    "assignee": _csv(_word), "unit": _csv(_word), "key": _csv(_word),
    "tag": st.tuples(st.sampled_from(["any:", "all:", "none:"]), _word).map("".join),
    "has_parent": _flag, "has_open_asks": _flag, "open_only": _flag,
    "q": _word, "parent": _word, "root": _word,
    "show_closed": st.sampled_from(["true", "false", "recent:7d", "recent:2w"]),
} | dict.fromkeys(DATES, _test)  # fmt: skip
_rest = {key: value for key, value in _filter.items() if key != "q"}
_branch = st.fixed_dictionaries({"q": _word}, optional=_rest)
_shape = {
    "any": st.lists(_branch, min_size=1, max_size=8),
    "sort": st.tuples(st.sampled_from(["", "-"]), st.sampled_from(SORTS)).map("".join),
    "limit": st.integers(1, 200), "group_by": st.sampled_from(AXES), "totals": st.just("turns:p90"),
    "preset": st.sampled_from(["my_queue", "triage", "overdue"]), "around": _word,
}  # fmt: skip


@pytest.mark.covers("TRK-19")
@settings(max_examples=120, deadline=None)
@generated(st.fixed_dictionaries({}, optional=_filter | _shape))
def test_a_query_that_is_written_again_is_the_same_query(query: dict[str, object]) -> None:
    """One grammar; what a page, a program or a tool writes, each of them reads."""
    filters = parse_filters(query)
    written = write_filters(filters)
    assert set(written) <= set(KEYS)
    assert parse_filters(written) == filters
