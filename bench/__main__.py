"""`python -m bench`: one run of every measurement, printed, and its aims judged."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from typing import Any, Protocol

from bench import place as places
from bench import plan as plans
from bench.figures import Aim


class Figures(Protocol):
    """What every part of a run gives back."""

    def show(self) -> str: ...

    def aims(self) -> list[Aim]: ...

    def as_json(self) -> dict[str, Any]: ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Measures and prints; 0 when it could be measured, whatever the figures say, 1 otherwise."""
    wish = plans.read(arguments)
    began = time.monotonic()
    try:
        with places.opened(plans.SLOW_SECONDS) as place:
            found = _run(place, wish)
    except places.BenchProblem as problem:
        print(f"bench: {problem}", file=sys.stderr)
        return 1
    if found:
        _conclude(found, wish, time.monotonic() - began)
    return 0


def _run(place: places.Place, wish: plans.Wish) -> dict[str, Figures]:
    """Sets the company up and measures the parts that were asked for."""
    import django

    django.setup()

    from django.core.management import call_command

    from bench import company as companies
    from bench import machine, pages, profiling, sockets, stream, turns, wakes
    from crewlet.ops.pools import close_pools

    call_command("migrate", interactive=False, verbosity=0)
    print("measured on " + ", ".join(f"{k} {v}" for k, v in machine.description().items()))
    found: dict[str, Figures] = {}
    try:
        company = companies.applied(place)
        node = companies.node()
        if wish.profile:
            profiling.show(company, node)
            return {}
        if "turns" in wish.parts:
            _tell(found, "turns", turns.measured(place, company, node, wish.plan))
        node.host.stop()
        if "wakes" in wish.parts:
            _tell(found, "wakes", wakes.measured(place, company, wish.plan))
        if "sockets" in wish.parts:
            _tell(found, "sockets", sockets.measured(place, wish.plan))
        if "stream" in wish.parts:
            _tell(found, "stream", stream.measured(place, wish.plan))
        if "pages" in wish.parts:
            _tell(found, "pages", pages.measured(company, wish.plan))
        return found
    finally:
        close_pools()


def _tell(found: dict[str, Figures], part: str, figures: Figures) -> None:
    found[part] = figures
    print(f"\n{figures.show()}", flush=True)


def _conclude(found: dict[str, Figures], wish: plans.Wish, seconds: float) -> None:
    from bench import machine

    aims = [aim for figures in found.values() for aim in figures.aims()]
    print("\ncells are min/median/max; aims (an aim is a sign, not a gate):")
    for aim in aims:
        print(f"  {aim.show()}")
    print(f"took {seconds:.0f} s")
    if wish.json is not None:
        report = {
            "machine": machine.description(),
            "seconds": round(seconds, 1),
            "aims": [aim.as_json() for aim in aims],
            **{part: figures.as_json() for part, figures in found.items()},
        }
        wish.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    raise SystemExit(main())
