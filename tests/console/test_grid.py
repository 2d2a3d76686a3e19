"""The one grid: sorting and columns in the address, what is absent, and how a list ends."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.http import QueryDict
from django.template.loader import render_to_string

from crewlet.console.grid import Column, grid, sort_of
from tests.console.conftest import Draw

COLUMNS = [
    Column("name", "Name", sort=True),
    Column("used", "Used", sort=True, num=True),
    Column("note", "Note", keep=1),
    Column("seen", "Seen", keep=2),
]
ROWS: list[dict[str, Any]] = [
    {"name": "Cedar", "used": None, "band": "Away"},
    {"name": "ash", "used": {"text": "2k", "sort": 2000}, "peek": "seat:ash", "band": "Here"},
    {"name": "Birch", "used": {"text": "9", "sort": 9}, "note": "new", "band": "Here"},
]
EMPTY = {"title": "Nothing matches", "text": "No tree has this name.", "url": "?", "act": "Clear"}


def drawn(address: str = "", rows: list[dict[str, Any]] | None = None, **more: Any) -> str:
    """Returns the grid of the trees as HTML."""
    context = grid(
        QueryDict(address), more.pop("name", ""), COLUMNS, ROWS if rows is None else rows,
        label="Trees", empty=EMPTY, **more,
    )  # fmt: skip
    return render_to_string("ui/grid.html", {"grid": context})


def names(html: str) -> list[str]:
    """Returns the first cell of every row."""
    return re.findall(r'<td data-label="Name"[^>]*>(\w+)', html)


def unbanded() -> list[dict[str, Any]]:
    """Returns the rows without their bands."""
    return [{key: value for key, value in row.items() if key != "band"} for row in ROWS]


@pytest.mark.covers("UI-28")
def test_what_is_absent_is_last_whichever_way_a_list_is_sorted() -> None:
    assert names(drawn("sort=used", unbanded())) == ["Birch", "ash", "Cedar"]
    assert names(drawn("sort=-used", unbanded())) == ["ash", "Birch", "Cedar"]
    assert names(drawn("sort=name", unbanded())) == ["ash", "Birch", "Cedar"]


@pytest.mark.covers("UI-28")
def test_the_sorted_column_says_so_and_its_next_press_turns_it_round() -> None:
    html = drawn("sort=used&q=a&cursor=abc")
    assert 'aria-sort="ascending"><a href="?sort=-used&amp;q=a">Used' in html or (
        'aria-sort="ascending"><a href="?q=a&amp;sort=-used">Used' in html
    )
    assert html.count("aria-sort") == 1
    assert "cursor=abc" not in html, "a new order starts at the first page"


def test_a_column_that_cannot_be_sorted_by_is_no_order() -> None:
    assert sort_of(QueryDict("sort=note"), "", COLUMNS, "-name") == ("name", True)
    assert sort_of(QueryDict("sort=-used"), "", COLUMNS, "name") == ("used", True)


@pytest.mark.covers("UI-28")
def test_a_second_grid_of_a_page_keeps_its_order_to_itself() -> None:
    html = drawn("sort=-name&sort.two=used", unbanded(), name="two")
    assert names(html) == ["Birch", "ash", "Cedar"]
    assert "sort=-name" in html
    assert "sort.two=-used" in html


@pytest.mark.covers("UI-28")
def test_the_chooser_leaves_columns_out_but_never_the_first() -> None:
    html = drawn("cols=used")
    assert re.findall(r'<th scope="col"[^>]*>(?:<a[^>]*>)?(\w+)', html) == ["Name", "Used"]
    assert 'href="?cols=name,used,note"' in html
    assert "Show all" in html
    everything = drawn()
    assert 'href="?cols=name,note,seen"' in everything
    assert 'href="?cols=all"' in html, "every column is said, for a smaller choice is remembered"
    assert "Show all" not in everything
    assert names(drawn("cols=nonsense")) == names(everything)
    assert drawn("cols=nonsense").count("<td") == everything.count("<td")


@pytest.mark.covers("UI-28")
def test_columns_give_way_in_their_declared_order_and_are_named() -> None:
    html = drawn()
    assert re.findall(r'data-rank="(\d)">([^<]+)<', html) == [
        ("2", "Hidden to fit: Seen"),
        ("1", "Hidden to fit: Note, Seen"),
    ]


@pytest.mark.covers("UI-28")
def test_bands_count_their_rows() -> None:
    html = drawn("sort=name")
    bands = re.findall(r'scope="rowgroup">(\w+) <span class="num">(\d)', html)
    assert bands == [("Here", "2"), ("Away", "1")]


@pytest.mark.covers("UI-27")
def test_a_list_says_that_it_is_all_or_offers_more() -> None:
    assert "That is all of it, 3" in drawn()
    more = drawn(next_url="?cursor=x", total=90)
    assert "That is all of it" not in more
    assert "3 of 90" in more
    assert 'href="?cursor=x">More' in more
    assert "That is all of it" not in drawn(complete=False)


@pytest.mark.covers("UI-27")
def test_an_empty_list_says_why_and_what_to_do() -> None:
    html = drawn(rows=[])
    assert "No tree has this name." in html
    assert ">Clear</a>" in html
    assert "<table" not in html


def test_what_somebody_wrote_in_a_cell_is_inert() -> None:
    html = drawn(rows=[{"name": {"text": "<b>x</b>", "url": "/x", "peek": "seat:x"}}])
    assert "<b>x" not in html
    assert 'data-peek="seat:x"' in html


def test_the_kit_draws_the_grid_in_the_order_of_the_address(draw: Draw) -> None:
    assert 'aria-sort="descending"' in draw("/kit").content.decode()
    html = draw("/kit?sort=seat").content.decode()
    assert html.index("Iris Chen</a></td>") < html.index("Kofi Mensah</a></td>")


@pytest.mark.covers("UI-28")
def test_whatever_stands_in_a_cell_is_text_and_nothing_else() -> None:
    evil = '<i x="y">&\''
    parts = ("text", "url", "peek", "tone", "tag", "title", "glyph")
    cell: dict[str, Any] = dict.fromkeys(parts, evil)
    html = drawn(rows=[{"name": cell | {"who": {"name": evil, "kind": evil}}}])
    assert "<i" not in html
    assert 'y">' not in html
    assert html.count("&lt;i x=&quot;y&quot;&gt;&amp;&#x27;") == 8
