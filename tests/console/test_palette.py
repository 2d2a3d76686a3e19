"""The palette's answers: by scope, by a pasted id, and what it says when it has none."""

from __future__ import annotations

import pytest

from crewlet.console.registries import PaletteAct, PaletteRow, PaletteSource
from crewlet.kernel import refs
from crewlet.kernel.actors import Actor
from crewlet.kernel.errors import Unavailable
from crewlet.kernel.registry import Registry
from tests.console.conftest import Draw


def answer(draw: Draw, query: str) -> str:
    """Returns what the palette's list shows."""
    return draw(f"/ui/palette?{query}").content.decode()


@pytest.mark.covers("UI-13")
def test_one_letter_is_too_short_and_asks_nobody(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:

    def never(actor: Actor, text: str) -> list[PaletteRow]:
        raise AssertionError("a source was asked")

    one: Registry[PaletteSource] = Registry("sources of a test")
    one.register("items", PaletteSource("Items", 10, never, "#"))
    monkeypatch.setattr("crewlet.console.palette.PALETTE_SOURCES", one)
    assert "at least two letters" in answer(draw, "q=e")
    assert "at least two letters" in answer(draw, "q=%23e")


@pytest.mark.covers("UI-13")
def test_nothing_found_is_said_apart_from_too_short(draw: Draw) -> None:
    html = answer(draw, "q=@zzz")
    assert "Nothing matches" in html
    assert "letters" not in html


@pytest.mark.covers("UI-13", "UI-59")
def test_a_source_that_refuses_says_why_and_costs_the_others_nothing(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:

    def away(actor: Actor, text: str) -> list[PaletteRow]:
        raise Unavailable("The index is being built.")

    def found(actor: Actor, text: str) -> list[PaletteRow]:
        return [PaletteRow("Edith", "/agents/seats/edith", "bot")]

    two: Registry[PaletteSource] = Registry("sources of a test")
    two.register("items", PaletteSource("Items", 10, away, "#"))
    two.register("agents", PaletteSource("Agents", 20, found, "@"))
    monkeypatch.setattr("crewlet.console.palette.PALETTE_SOURCES", two)
    html = answer(draw, "q=ed")
    assert "The index is being built." in html
    assert "/agents/seats/edith" in html


@pytest.mark.covers("UI-13")
def test_a_pasted_key_or_reference_leads_to_its_page(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:
    kinds: Registry[refs.RefKind] = Registry("kinds of a test")
    kinds.register(
        "item",
        refs.RefKind(
            label=lambda key: f"{key} Round it", url=lambda key: f"/work/{key}",
            exists=lambda key: key == "ENG-7",
        ),
    )  # fmt: skip
    monkeypatch.setattr("crewlet.console.palette.REF_KINDS", kinds)
    for pasted in ("ENG-7", "eng-7", "item:ENG-7"):
        html = answer(draw, f"q={pasted}")
        assert "Exactly this" in html, pasted
        assert 'data-href="/work/ENG-7"' in html, pasted
    for other in ("ENG-8", "page:ENG-7", "round it"):
        assert "Exactly this" not in answer(draw, f"q={other}"), other


@pytest.mark.covers("UI-15")
def test_actions_have_a_scope_and_an_unavailable_one_is_drawn_with_its_reason(
    draw: Draw, monkeypatch: pytest.MonkeyPatch
) -> None:

    def rows(actor: Actor, text: str, ref: str) -> list[PaletteRow]:
        return [
            PaletteRow("Stop the engine", "", "octagon-x", act="stop", reason="Only Edith may."),
            PaletteRow("File an item", "/work/new", "square-pen", keys="C"),
        ]

    one: Registry[PaletteAct] = Registry("acts of a test")
    one.register("test", PaletteAct("Do", 10, rows))
    monkeypatch.setattr("crewlet.console.palette.PALETTE_ACTS", one)
    html = answer(draw, "q=%3E")
    assert 'aria-disabled="true"' in html
    assert "Only Edith may." in html
    assert "<kbd>C</kbd>" in html
    assert "Only Edith may." not in answer(draw, "q=%23ed")


def test_the_frame_can_be_told_what_to_do(draw: Draw) -> None:
    html = answer(draw, "q=%3Etheme")
    assert 'data-run="theme-dark"' in html
    assert "New item" not in html
