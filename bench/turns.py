"""Reviewed turns: ours, by the real way from the letter to the settlement, and the floors.

Kinds are interleaved within each pass, so that a noisy moment falls on all of them; what counts is
their ratio, not their milliseconds.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import UUID

from bench.company import SOLO, Company, Node, all_completed, slow_seats
from bench.counting import Count, counted
from bench.figures import Aim, Spread, ideal_per_second, table
from bench.floor import Floor, Prompts, by_create, by_post, post_letter
from bench.place import Place, until
from bench.plan import CALLS, IN_FLIGHT, SLOW_SECONDS, Plan
from crewlet.kernel import db

OURS: Final = "a reviewed turn of ours"
CREATE: Final = "floor: ORM + openai create"
POST: Final = "floor: ORM + openai post(cast_to=)"
CPU_RATIO: Final = 2.5
MOST_COMMITS, RECIPE_COMMITS = 8, 5
MOST_REPEATS: Final = 3
"""A settlement tells of up to three things with one statement each; a loop has no such bound."""
WARM_TURNS: Final = 3


@dataclass
class Kind:
    """One way to work a letter, and what it took. Times are milliseconds a turn."""

    name: str
    post: Callable[[str, int], None]
    work: Callable[[UUID], None]
    work_slow: Callable[[list[UUID], int], None]
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    slow_rate: list[float] = field(default_factory=list)
    slow_cpu: list[float] = field(default_factory=list)
    counts: list[Count] = field(default_factory=list)


@dataclass
class TurnFigures:
    """What the turns of one run took."""

    kinds: list[Kind]
    ideal: float

    def kind(self, name: str) -> Kind:
        """Returns one kind by name."""
        return next(kind for kind in self.kinds if kind.name == name)

    def ratio(self, floor: str, *, wall: bool = False) -> float:
        """Returns our median over a floor's: CPU, or wall."""
        ours, other = self.kind(OURS), self.kind(floor)
        if wall:
            return Spread.of(ours.wall).middle / Spread.of(other.wall).middle
        return Spread.of(ours.cpu).middle / Spread.of(other.cpu).middle

    @property
    def growth(self) -> int:
        """How many more queries a turn of ours took at the end than on the nearly empty store."""
        counts = [count.queries for count in self.kind(OURS).counts]
        return counts[-1] - counts[0]

    def show(self) -> str:
        """Returns the table."""
        base = self.kind(CREATE)
        rows = []
        for kind in self.kinds:
            rate = Spread.of(kind.slow_rate)
            rows.append(
                [
                    kind.name,
                    Spread.of(kind.wall).show(),
                    Spread.of(kind.cpu).show(),
                    f"{Spread.of(kind.cpu).middle / Spread.of(base.cpu).middle:.2f}",
                    Spread.of(c.commits for c in kind.counts).show(0),
                    Spread.of(c.queries for c in kind.counts).show(0),
                    rate.show(),
                    f"{rate.middle / self.ideal:.2f}",
                    Spread.of(kind.slow_cpu).show(),
                ]
            )
        head = [
            "one reviewed turn, 3 model calls", "wall ms", "CPU ms", "x floor", "commits",
            "queries", f"turns/s {IN_FLIGHT} x 200 ms", "of ideal", "CPU ms there",
        ]  # fmt: skip
        repeated = self.kind(OURS).counts[-1].repeated
        return "\n".join(
            [
                table(head, rows),
                f"ideal {self.ideal:.1f} turns/s; what one transaction of ours repeats most: "
                f"{repeated.times} x {repeated.statement[:70]}",
            ]
        )

    def aims(self) -> list[Aim]:
        """Returns the goals of a turn and what was measured."""
        counts = self.kind(OURS).counts
        commits = max(count.commits for count in counts)
        repeats = max(count.repeated.times for count in counts)
        return [
            Aim("CPU of a reviewed turn over ORM + SDK", self.ratio(CREATE), CPU_RATIO, "x"),
            Aim("commits of a reviewed turn", commits, MOST_COMMITS, "commits"),
            Aim("commits of the recipe", commits, RECIPE_COMMITS, "commits"),
            Aim("one statement in one transaction", repeats, MOST_REPEATS, "times"),
            Aim("queries a turn gained as rows grew", self.growth, 0, "queries"),
        ]

    def as_json(self) -> dict[str, Any]:
        """Returns it as the JSON report keeps it."""
        return {
            "ideal_per_second": self.ideal,
            "cpu_over_create": round(self.ratio(CREATE), 3),
            "cpu_over_post": round(self.ratio(POST), 3),
            "wall_over_create": round(self.ratio(CREATE, wall=True), 3),
            "kinds": {
                kind.name: {
                    "turns": len(kind.wall),
                    "wall_ms": Spread.of(kind.wall).as_json(),
                    "cpu_ms": Spread.of(kind.cpu).as_json(),
                    "commits": Spread.of(c.commits for c in kind.counts).as_json(),
                    "queries": Spread.of(c.queries for c in kind.counts).as_json(),
                    "turns_per_second": Spread.of(kind.slow_rate).as_json(),
                    "cpu_ms_in_flight": Spread.of(kind.slow_cpu).as_json(),
                }
                for kind in self.kinds
            },
        }


def measured(place: Place, company: Company, node: Node, plan: Plan) -> TurnFigures:
    """Measures all kinds, interleaved."""
    ours = _ours(company, node)
    _warm(ours, company)
    prompts = Prompts.of_last_turn()
    kinds = [ours, *(_floor(place, prompts, name, company) for name in (CREATE, POST))]
    for kind in kinds[1:]:
        _warm(kind, company)
    for kind in kinds:
        _count(kind, company)
    for _ in range(plan.passes):
        for kind in kinds:
            _single(kind, company, plan.single_turns)
    for at in range(plan.slow_passes):
        # The first kind of a pass meets a colder machine, so each takes its turn at it.
        for kind in kinds[at % len(kinds) :] + kinds[: at % len(kinds)]:
            _in_flight(kind, company, plan.batches)
    for kind in kinds:
        _count(kind, company)
    all_completed(company)
    return TurnFigures(kinds, ideal_per_second(IN_FLIGHT, CALLS, SLOW_SECONDS))


def _ours(company: Company, node: Node) -> Kind:
    def in_flight(seats: list[UUID], _: int) -> None:
        node.work_all(seats)
        until(lambda: node.runner.in_flight() == 0, what="the turns in flight to end", seconds=120)

    return Kind(OURS, company.file, node.work, in_flight)


def _floor(place: Place, prompts: Prompts, name: str, company: Company) -> Kind:
    send = by_create if name == CREATE else by_post
    quick = Floor.at(place.quick.openai_url, send, prompts)
    slow = Floor.at(place.slow.openai_url, send, prompts)

    def post(handle: str, count: int) -> None:
        for _ in range(count):
            post_letter(company.seats[handle])

    def in_flight(seats: list[UUID], batches: int) -> None:
        def work_all_of(seat_id: UUID) -> None:
            for _ in range(batches):
                slow.work(seat_id)

        with ThreadPoolExecutor(IN_FLIGHT) as pool:
            for done in [pool.submit(work_all_of, seat_id) for seat_id in seats]:
                done.result()

    return Kind(name, post, quick.work, in_flight)


def _warm(kind: Kind, company: Company) -> None:
    kind.post(SOLO, WARM_TURNS)
    for _ in range(WARM_TURNS):
        kind.work(company.seats[SOLO])


def _single(kind: Kind, company: Company, turns: int) -> None:
    """Works letters one after another; each turn's wall and CPU on its own."""
    kind.post(SOLO, turns)
    seat_id = company.seats[SOLO]
    for _ in range(turns):
        wall, cpu = time.perf_counter(), time.process_time()
        kind.work(seat_id)
        kind.cpu.append((time.process_time() - cpu) * 1000)
        kind.wall.append((time.perf_counter() - wall) * 1000)


def _count(kind: Kind, company: Company, turns: int = 2) -> None:
    kind.post(SOLO, turns)
    for _ in range(turns):
        with counted() as count:
            kind.work(company.seats[SOLO])
        kind.counts.append(count)


def _in_flight(kind: Kind, company: Company, batches: int) -> None:
    """Works `batches` letters of each slow seat, all seats at once."""
    seats = [company.seats[handle] for handle in slow_seats()]
    for handle in slow_seats():
        kind.post(handle, batches)
    db.release()
    wall, cpu = time.perf_counter(), time.process_time()
    kind.work_slow(seats, batches)
    turns = batches * len(seats)
    kind.slow_cpu.append((time.process_time() - cpu) * 1000 / turns)
    kind.slow_rate.append(turns / (time.perf_counter() - wall))
