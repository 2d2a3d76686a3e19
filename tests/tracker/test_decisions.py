"""The limits of a structured decision."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tracker.decisions import Decision

GOOD: dict[str, Any] = {
    "question": "Which driver?",
    "options": [{"id": "led", "label": "LED"}, {"id": "coil", "label": "Coil", "detail": "Old"}],
    "role": "approver",
    "recommended": "led",
    "evidence": ["item:ENG-1", "https://lantern.example/spec"],
}


@pytest.mark.covers("TRK-36")
def test_a_decision_holds_its_options_and_labels() -> None:
    decision = Decision.model_validate(GOOD)
    assert decision.label_of("coil") == "Coil"
    assert Decision.model_validate(decision.model_dump(mode="json")) == decision


@pytest.mark.covers("TRK-36")
@pytest.mark.parametrize(
    ("change", "names"),
    [
        ({"options": GOOD["options"][:1]}, "options"),
        ({"options": [{"id": f"o{n}", "label": "x"} for n in range(7)]}, "options"),
        ({"options": [GOOD["options"][0]] * 2}, "two options have one id"),
        ({"options": [{"id": "Big Id", "label": "x"}, GOOD["options"][0]]}, "options.0.id"),
        ({"options": [{"id": "a", "label": "x" * 81}, GOOD["options"][0]]}, "options.0.label"),
        ({"recommended": "gas"}, "gas"),
        ({"question": "x" * 301}, "question"),
        ({"rationale": "x" * 1501}, "rationale"),
        ({"evidence": ["item:ENG-1"] * 9}, "evidence"),
        ({"evidence": ["http://lantern.example"]}, "https"),
        ({"evidence": ["somewhere"]}, "kind:id"),
        ({"role": "king"}, "role"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_decision_over_a_limit_is_refused_by_field(change: dict[str, Any], names: str) -> None:
    with pytest.raises(ValidationError) as refusal:
        Decision.model_validate(GOOD | change)
    assert names in str(refusal.value)


@pytest.mark.covers("TRK-36")
def test_a_decision_cannot_be_changed() -> None:
    decision = Decision.model_validate(GOOD)
    with pytest.raises(ValidationError):
        decision.question = "Another?"  # type: ignore[misc]  # the test is about that
