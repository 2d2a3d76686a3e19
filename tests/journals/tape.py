"""Journals on tape: the rows of an open turn as an earlier version wrote them.

A tape is recorded once and never changed; every later version must be able to go on from it. The
seat and the epoch are those of the test's company, everything else is as it was.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

from django.apps import apps
from django.db import connection
from django.db.models import NOT_PROVIDED

FOLDER = Path(__file__).parent
TABLES = (
    "agents_turn", "agents_segment", "agents_phase", "agents_round", "agents_toolcall",
    "agents_iterationrecord", "agents_delivery",
)  # fmt: skip
_OWN = {
    "agents_turn": "id = %(turn)s",
    "agents_segment": "turn_id = %(turn)s",
    "agents_phase": "turn_id = %(turn)s",
    "agents_round": "phase_id IN (SELECT id FROM agents_phase WHERE turn_id = %(turn)s)",
    "agents_toolcall": "round_id IN (SELECT r.id FROM agents_round r JOIN agents_phase p "
    "ON p.id = r.phase_id WHERE p.turn_id = %(turn)s)",
    "agents_iterationrecord": "turn_id = %(turn)s",
    "agents_delivery": "turn_id = %(turn)s",
}


def record(name: str, turn_id: UUID) -> None:
    """Writes the rows of a turn to a new tape; refuses to change one that is there."""
    rows: dict[str, list[Any]] = {}
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(
                f"SELECT to_jsonb(t) FROM {table} t WHERE {_OWN[table]} ORDER BY 1",
                {"turn": turn_id},
            )
            rows[table] = [json.loads(r) if isinstance(r, str) else r for (r,) in cursor.fetchall()]
    with (FOLDER / f"{name}.json").open("x", encoding="utf-8") as tape:
        json.dump(rows, tape, indent=1, sort_keys=True, ensure_ascii=False)
        tape.write("\n")


def play(name: str, *, seat_id: UUID, epoch: int) -> UUID:
    """Puts a tape's rows into the store and returns the turn's id.

    A column that came later gets its model's default, as its migration gave it to old rows.
    """
    tape = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    with connection.cursor() as cursor:
        for table in TABLES:
            for row in tape[table]:
                if "seat_id" in row:
                    row["seat_id"] = str(seat_id)
                if table == "agents_turn":
                    row["epoch"] = epoch
                if table == "agents_delivery":
                    row["seq"] = _next_delivery(cursor)
                full = _defaults(table) | row
                cursor.execute(
                    f"INSERT INTO {table} SELECT * FROM jsonb_populate_record(NULL::{table}, %s)",
                    (json.dumps(full, default=str),),
                )
    return UUID(tape["agents_turn"][0]["id"])


def _next_delivery(cursor: Any) -> int:
    cursor.execute("SELECT nextval(pg_get_serial_sequence('agents_delivery', 'seq'))")
    return int(cursor.fetchone()[0])


def _defaults(table: str) -> dict[str, Any]:
    model = next(model for model in apps.get_models() if model._meta.db_table == table)
    return {
        str(field.column): field.get_default()
        for field in model._meta.concrete_fields
        if field.default is not NOT_PROVIDED or field.blank
    }
