"""Pages of a grown company: 5,000 items as list and board, 500 seats live, and a first visit.

Requests go through Django's whole stack in this process, on the real database; what a proxy and a
network add is not in them. Each kind is asked for once untimed, when its statements are counted.
"""

from __future__ import annotations

import gc
import gzip
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from django.contrib.staticfiles import finders
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from bench.company import PROJECT, Company
from bench.figures import Aim, Spread, percentile, table
from bench.place import TOKEN, BenchProblem
from bench.plan import Plan
from crewlet.kernel import live
from crewlet.kernel.actors import engine_actor
from orgs import epochs
from orgs.revisions import apply_document

ITEMS: Final = 5_000
SEATS: Final = 500
PAGE_MS: Final = 120.0
PAGE_STATEMENTS: Final = 20
SNAPSHOT_MS: Final = 100.0
FIRST_VISIT_KB: Final = 150.0
ADDRESSES: Final = {
    "list": f"/work/{PROJECT}?shape=list",
    "board": f"/work/{PROJECT}?shape=board",
    "list over REST, 200 a page": f"/api/v1/work?project={PROJECT}&limit=200",
}
_LINKED = re.compile(r'(?:href|src)="/static/([^"]+\.(?:css|js|woff2|svg))"')
_IMPORTED = re.compile(r"""import\s*(?:[^'"]*from\s*)?['"]\./([\w.-]+)['"]""")


@dataclass
class PageFigures:
    """Milliseconds of each address, its statements, and the bytes of a first visit."""

    ms: dict[str, list[float]] = field(default_factory=dict)
    statements: dict[str, int] = field(default_factory=dict)
    kb: dict[str, float] = field(default_factory=dict)

    def show(self) -> str:
        """Returns the tables."""
        rows = [
            [name, Spread.of(taken).show(), f"{percentile(taken, 0.95):.1f}",
             str(self.statements[name])]
            for name, taken in self.ms.items()
        ]  # fmt: skip
        first = table(["server ms", "min/median/max", "p95", "statements"], rows)
        sizes = table(
            ["first visit to Home, gzip", "KB"],
            [[name, f"{size:.1f}"] for name, size in self.kb.items()],
        )
        return f"{first}\n\n{sizes}"

    def aims(self) -> list[Aim]:
        """Returns the goals and what was measured."""
        found = []
        for name in ADDRESSES:
            p95 = percentile(self.ms[name], 0.95)
            found.append(Aim(f"{name} of {ITEMS} items, p95", p95, PAGE_MS, "ms"))
            found.append(
                Aim(f"{name}, statements", self.statements[name], PAGE_STATEMENTS, "statements")
            )
        snapshot = percentile(self.ms["snapshot"], 0.95)
        found.append(Aim(f"snapshot of {SEATS} seats, p95", snapshot, SNAPSHOT_MS, "ms"))
        found.append(Aim("first visit, fonts and all", self.kb["together"], FIRST_VISIT_KB, "KB"))
        return found

    def as_json(self) -> dict[str, Any]:
        """Returns it as the JSON report keeps it."""
        return {
            "items": ITEMS,
            "seats": SEATS,
            "ms": {name: Spread.of(taken).as_json() for name, taken in self.ms.items()},
            "statements": self.statements,
            "first_visit_kb": {name: round(size, 1) for name, size in self.kb.items()},
        }


def measured(company: Company, plan: Plan) -> PageFigures:
    """Fills the project, asks for its pages, then grows the company and asks who works."""
    figures = PageFigures()
    company.file("ana", 1)
    _fill()
    gc.collect()
    gc.freeze()  # as the web process does once it is loaded
    browser = Client(headers={"authorization": f"Bearer {TOKEN}", "host": "localhost"})
    for name, address in ADDRESSES.items():
        _ask(figures, name, plan.page_views, partial(_get, browser, address))
    figures.kb = _first_visit(_get(browser, "/"))
    _grow()
    _ask(figures, "snapshot", plan.page_views, lambda: live.snapshot(company.actor))
    return figures


def _get(browser: Client, address: str) -> bytes:
    answer = browser.get(address)
    if answer.status_code != 200:  # noqa: PLR2004
        raise BenchProblem(f"{address} answered {answer.status_code}: {answer.content[:300]!r}")
    return bytes(answer.content)


def _ask(figures: PageFigures, name: str, times: int, call: Callable[[], object]) -> None:
    call()
    with CaptureQueriesContext(connection) as asked:
        call()
    figures.statements[name] = len(asked)
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        call()
        taken.append((time.perf_counter() - began) * 1000)
    figures.ms[name] = taken


_COPIES = """
INSERT INTO tracker_workitem ({columns})
SELECT {values} FROM tracker_workitem, generate_series(1, %(count)s) AS n
WHERE key = %(key)s
"""


def _fill() -> None:
    """Copies the one filed item `ITEMS` times, over statuses, seats, priorities and days."""
    changed = {
        "id": "gen_random_uuid()",
        "number": "number + n",
        "key": f"'{PROJECT}-' || (number + n)",
        "title": "'Count what came in, part ' || n || ' of the year'",
        "status": "(ARRAY['todo','in_progress','in_review','done'])[1 + n %% 4]",
        '"group"': "(ARRAY['not_started','active','active','done'])[1 + n %% 4]",
        "priority": "(ARRAY['none','low','normal','high','urgent'])[1 + n %% 5]",
        "rank": "'m' || lpad(n::text, 6, '0') || 'm'",
        "assignee_id": "(SELECT id FROM orgs_seat WHERE kind = 'agent' ORDER BY handle"
        " LIMIT 1 OFFSET n %% 32)",
        "finished_at": "CASE WHEN n %% 4 = 3 THEN created_at ELSE NULL END",
        "updated_at": "updated_at - n * interval '1 minute'",
        "due_at": "CASE WHEN n %% 3 = 0 THEN created_at + n * interval '1 hour' ELSE NULL END",
        "root_id": "NULL",
    }
    with connection.cursor() as cursor:
        cursor.execute("SELECT key FROM tracker_workitem ORDER BY number DESC LIMIT 1")
        (key,) = cursor.fetchone()
        cursor.execute(
            "SELECT quote_ident(column_name) FROM information_schema.columns "
            "WHERE table_schema = current_schema() AND table_name = 'tracker_workitem' "
            "AND is_generated = 'NEVER'"
        )
        columns = [name for (name,) in cursor.fetchall()]
        values = [changed.get(name, name) for name in columns]
        cursor.execute(
            _COPIES.format(columns=", ".join(columns), values=", ".join(values)),
            {"count": ITEMS, "key": key},
        )
        cursor.execute("ANALYZE tracker_workitem")


def _grow() -> None:
    """Applies a company of `SEATS` agent seats."""
    seats = [
        {"name": f"Hand {n}", "handle": f"hand-{n:03}", "goal": "Do what the item asks"}
        for n in range(SEATS)
    ]
    head = {
        "name": "Ana Bench", "handle": "ana", "kind": "human", "goal": "See what it costs",
        "manages": [seat["handle"] for seat in seats],
    }  # fmt: skip
    document = {"name": "The Bench", "roles": [head, *seats]}
    apply_document(engine_actor("bench"), document, summary="Many seats")
    if len(epochs.active().chart.seats) != SEATS + 1:
        raise BenchProblem("The grown company is not as large as it was meant to be.")


def _first_visit(page: bytes) -> dict[str, float]:
    """Returns the gzip size in KB of what a browser without a cache fetches for Home."""
    text = page.decode()
    wanted = set(_LINKED.findall(text))
    queue = [name for name in wanted if name.startswith("js/")]
    while queue:
        for name in _IMPORTED.findall(_source(queue.pop()).decode()):
            if f"js/{name}" not in wanted:
                wanted.add(f"js/{name}")
                queue.append(f"js/{name}")
    wanted |= {
        "icons/sprite.svg",
        "fonts/geist-latin-wght-normal.woff2",
        "fonts/geist-mono-latin-wght-normal.woff2",
    }
    sizes = {"page": _kb(page)}
    for kind, ends in {"css": ".css", "js": ".js", "icons": ".svg", "fonts": ".woff2"}.items():
        sizes[kind] = sum(_kb(_source(name)) for name in wanted if name.endswith(ends))
    sizes["together"] = sum(sizes.values())
    return sizes


def _source(name: str) -> bytes:
    place = finders.find(name)
    if place is None:
        raise BenchProblem(f"The page names /static/{name}, which nobody has.")
    with open(place, "rb") as file:  # noqa: PTH123  # finders give plain strings
        return file.read()


def _kb(data: bytes) -> float:
    return len(gzip.compress(data, 9)) / 1024
