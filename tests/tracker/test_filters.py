"""The query grammar understands or refuses by name."""

from __future__ import annotations

import pytest

from crewlet.kernel.errors import Invalid
from tracker.filters import Choice, Sort, parse_filters, write_cursor


def test_lists_negations_and_flags_are_read() -> None:
    filters = parse_filters(
        {"status": "!done,cancelled", "assignee": "@swe,me", "open_only": "true", "limit": "10",
         "sort": "-due", "container": "project:ENG"}
    )  # fmt: skip
    assert filters.status == Choice(("done", "cancelled"), negated=True)
    assert filters.assignee == Choice(("swe", "me"))
    assert filters.project == Choice(("ENG",))
    assert filters.open_only
    assert (filters.limit, filters.sort) == (10, Sort("due", descending=True))


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"asignee": "swe"}, "assignee"),
        ({"status": "finished"}, "finished"),
        ({"priority": "high,huge"}, "huge"),
        ({"sort": "colour"}, "colour"),
        ({"limit": "201"}, "limit"),
        ({"limit": "ten"}, "limit"),
        ({"open_only": "perhaps"}, "open_only"),
        ({"container": "galaxy:far"}, "galaxy:far"),
        ({"cursor": "!!"}, "cursor"),
        ({"q": "x" * 401}, "q"),
        ({"status": ",".join(["todo"] * 17)}, "status"),
    ],
)
def test_what_is_not_understood_is_refused_by_name(given: dict[str, str], names: str) -> None:
    with pytest.raises(Invalid, match=names) as refusal:
        parse_filters(given)
    assert refusal.value.detail["field"] in given


def test_a_cursor_of_another_order_is_refused() -> None:
    cursor = write_cursor(Sort("due"), None, "x")
    assert parse_filters({"sort": "due", "cursor": cursor}).cursor == ("due", None, "x")
    with pytest.raises(Invalid, match="another sort order"):
        parse_filters({"sort": "rank", "cursor": cursor})


def test_empty_values_are_no_filters() -> None:
    assert parse_filters({"status": "", "q": None, "assignee": []}) == parse_filters({})
