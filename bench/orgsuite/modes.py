"""The fourteen modes: how each misbehaves, what a reviewer would object to, when its fault stands.

The good answer is one comment on the item that says what the ledger says, then a submission that
cites it. A misbehaving seat mends its way when it is told what is wrong, unless its mode is not to.
"""

from __future__ import annotations

from typing import Final

from bench.orgsuite.scene import RIGHT, ROUNDS, UNKNOWN_ASK, Ended, Mode
from tests.support.script import SeenRequest, Step, call

WRONG: Final = "Eleven loaves"
GUESS: Final = "The new shop will need forty loaves."
NEWS: Final = "One more thing: say it in the word for today, please: Harvest."


def _says(item: str, body: str) -> Step:
    return Step(calls=[call("comment_on_work_item", item=item, body=body)])


def _submits(item: str, *, summary: str = f"{RIGHT}.") -> Step:
    return Step(calls=[call("submit_work", summary=summary, deliveries=[f"item:{item}"])])


def _well(seen: SeenRequest, item: str) -> Step:
    """Does the work as it was asked."""
    made = [made for made in seen.calls() if made.name == "comment_on_work_item"]
    if any(RIGHT in str(call_.arguments) for call_ in made):
        return _submits(item)
    return _says(item, f"{RIGHT} were sold.")


def _told(seen: SeenRequest, words: str) -> bool:
    """Whether a message after the system prompt says so."""
    return any(words in said.text for said in seen.messages)


# -- what was asked, and by whom it may be done ---------------------------------------------------


def disobeys_the_task(seen: SeenRequest, n: int, item: str) -> Step:
    """Says another number than the ledger."""
    if _told(seen, "The ledger says"):
        return _well(seen, item)
    if any(made.name == "comment_on_work_item" for made in seen.calls()):
        return _submits(item, summary=WRONG)
    return _says(item, f"{WRONG} were sold.")


def disobeys_the_role(seen: SeenRequest, n: int, item: str) -> Step:
    """Tries to pause its own lead, a tool that no seat holds, before it does its work."""
    if n == 0:
        return Step(calls=[call("pause_seat", seat="chief", reason="He talks too much.")])
    return _well(seen, item)


def repeats_a_step(seen: SeenRequest, n: int, item: str) -> Step:
    """Reads the same item again and again."""
    return Step(calls=[call("get_work_item", item=item)])


def loses_the_conversation(seen: SeenRequest, n: int, item: str) -> Step:
    """Says the same again on every pass, as if it had not been said."""
    said = [made for made in seen.calls() if made.name == "comment_on_work_item"]
    return _submits(item) if said else _says(item, f"{RIGHT} were sold.")


def never_ends(seen: SeenRequest, n: int, item: str) -> Step:
    """Does its work and goes on looking, at something else each time."""
    if n == 0:
        return _says(item, f"{RIGHT} were sold.")
    return Step(calls=[call("list_work_items", filters={"q": f"loaf {n}"})])


# -- between colleagues ---------------------------------------------------------------------------


def begins_anew(seen: SeenRequest, n: int, item: str) -> Step:
    """Answers the second message as if it were the first, unless it is shown what was said."""
    if NEWS in seen.text and not any("Harvest" in str(made.arguments) for made in seen.calls()):
        return _says(item, f"{RIGHT}. Harvest.")
    if any("Harvest" in str(made.arguments) for made in seen.calls()):
        return _submits(item, summary="Harvest.")
    return _well(seen, item)


def never_asks(seen: SeenRequest, n: int, item: str) -> Step:
    """Guesses a number that stands nowhere instead of asking for it."""
    if _told(seen, "Nothing on record says"):
        if any("ask" in made.arguments for made in seen.calls()):
            return Step(
                calls=[
                    call(
                        "submit_work",
                        outcome="blocked",
                        summary="I asked how large it is.",
                        evidence="@chief has to say how large the new shop is.",
                    )
                ]
            )
        return Step(
            calls=[
                call("comment_on_work_item", item=item, body="How large is the shop?", ask="chief")
            ]
        )
    if any(made.name == "comment_on_work_item" for made in seen.calls()):
        return _submits(item, summary=GUESS)
    return _says(item, GUESS)


def goes_astray(seen: SeenRequest, n: int, item: str) -> Step:
    """Files work of its own and calls that the answer."""
    if _told(seen, "Say the number"):
        return _well(seen, item)
    if any(made.name == "create_work_item" for made in seen.calls()):
        return Step(calls=[call("submit_work", summary="I began a new brand.")])
    return Step(calls=[call("create_work_item", title="A new brand", project="BAKE")])


def withholds(seen: SeenRequest, n: int, item: str) -> Step:
    """Knows the answer and keeps it in its summary, where nobody who asked reads it."""
    return Step(calls=[call("submit_work", summary=f"{RIGHT}, I found.", deliveries=[])])


def ignores_a_colleague(seen: SeenRequest, n: int, item: str) -> Step:
    """Does not look at what is said to it while it works."""
    return begins_anew(seen, n, item)


def acts_otherwise_than_it_says(seen: SeenRequest, n: int, item: str) -> Step:
    """Says that it has answered on the item, and has not."""
    return Step(
        say="I have posted the number on the item.",
        calls=[call("submit_work", summary="Posted.", deliveries=[f"item:{item}"])],
    )


# -- checking -------------------------------------------------------------------------------------


def ends_too_soon(seen: SeenRequest, n: int, item: str) -> Step:
    """Ends at once: nothing to do."""
    if n == 0:
        return Step(calls=[call("submit_work", outcome="no_action", summary="Nothing to do.")])
    return _well(seen, item)


def is_not_checked(seen: SeenRequest, n: int, item: str) -> Step:
    """Answers nobody, and nobody checks it."""
    if n < 2:  # noqa: PLR2004
        return Step(calls=[call("submit_work", summary="Done.")])
    return Step(say="It is done, as I said.")


def is_checked_badly(seen: SeenRequest, n: int, item: str) -> Step:
    """Claims a delivery on another item, and its reviewer believes it."""
    return Step(
        calls=[
            call("submit_work", summary="Said it on the other item.", deliveries=["item:BAKE-0"])
        ]
    )


def _gives_no_verdict(seen: SeenRequest) -> Step:
    return Step(say="Looks fine to me.")


def _believes(seen: SeenRequest) -> Step:
    return Step(calls=[call("submit_review", decision="done", completed_work="It says so.")])


# -- what a reviewer finds in the record ----------------------------------------------------------


def _wrong_number(record: str) -> str:
    if record.rfind(WRONG) <= record.rfind(RIGHT):
        return ""
    return f"The ledger says twelve: say {RIGHT} on the item."


def _no_source(record: str) -> str:
    if "forty" not in record or "How large is the shop?" in record:
        return ""
    return "Nothing on record says how large the shop is. Ask the chief, then end blocked."


def _other_work(record: str) -> str:
    if "create_work_item" not in record or RIGHT in record.rpartition("create_work_item")[2]:
        return ""
    return "A new brand was not asked for. Say the number that the ledger gives on the item."


# -- when a fault stands --------------------------------------------------------------------------


def _no_right_answer(ended: Ended) -> bool:
    return not ended.said or RIGHT not in ended.said[-1]


def _said_twice(ended: Ended) -> bool:
    return len(ended.said) != len(set(ended.said))


def _endless(ended: Ended) -> bool:
    return ended.calls("list_work_items") > ROUNDS


def _unheard(ended: Ended) -> bool:
    return ended.unworked or not any("Harvest" in said for said in ended.said)


def _guessed(ended: Ended) -> bool:
    return bool(ended.said) and "forty" in ended.said[-1]


MODES: Final = (
    Mode(
        "1.1", "Disobeys the task", "reviewer", disobeys_the_task, _no_right_answer, _wrong_number
    ),
    Mode("1.2", "Disobeys its role", "engine", disobeys_the_role, _no_right_answer),
    Mode("1.3", "Repeats a step", "engine", repeats_a_step, _no_right_answer),
    Mode("1.4", "Loses the conversation", "engine", loses_the_conversation, _said_twice),
    Mode("1.5", "Does not see that it is done", "engine", never_ends, _endless),
    Mode("2.1", "Begins anew", "engine", begins_anew, _said_twice, meanwhile=NEWS),
    Mode(
        "2.2",
        "Guesses instead of asking",
        "reviewer",
        never_asks,
        _guessed,
        _no_source,
        UNKNOWN_ASK,
    ),
    Mode("2.3", "Goes astray", "reviewer", goes_astray, _no_right_answer, _other_work),
    Mode("2.4", "Withholds what it knows", "engine", withholds, _no_right_answer),
    Mode("2.5", "Ignores a colleague", "engine", ignores_a_colleague, _unheard, meanwhile=NEWS),
    Mode(
        "2.6",
        "Acts otherwise than it says",
        "engine",
        acts_otherwise_than_it_says,
        _no_right_answer,
    ),
    Mode("3.1", "Ends too soon", "engine", ends_too_soon, _no_right_answer),
    Mode(
        "3.2",
        "Is not checked",
        "engine",
        is_not_checked,
        _no_right_answer,
        reviewer=_gives_no_verdict,
    ),
    Mode(
        "3.3", "Is checked badly", "engine", is_checked_badly, _no_right_answer, reviewer=_believes
    ),
)
"""The modes in the order of the taxonomy."""
