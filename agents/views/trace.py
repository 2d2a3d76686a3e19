"""A journalled turn as its page shows it: steps, waterfall, phases, rounds. Pure.

The journal counts rounds from 0, people from 1; element ids keep the journal's number.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from agents.views.faces import phase_name, turn_face, words

Row = Mapping[str, Any]
Out = dict[str, Any]

ORDINALS = {1: "first pass", 2: "second pass", 3: "third pass"}
NOTE_LENGTH, ARGS_LENGTH = 80, 160
_DECISIONS = {
    "done": ("done", "Accepted"),
    "self_iterate": ("back", "Sent back"),
    "failed": ("bad", "Judged failed"),
}


def trace(detail: Row, now: datetime, prefetched: Collection[str] = ()) -> Out:
    """Returns the whole context of a turn's page; `prefetched` names the blocks read for it."""
    face = turn_face(detail)
    phases = [_phase(row, detail, now) for row in detail["phases"]]
    return {
        "turn": face,
        "running": detail["ended_at"] is None and detail["stage"] != "parked",
        "steps": _steps(detail, phases, now),
        "fall": _waterfall(detail, now),
        "phases": phases,
        "wrong": _what_went_wrong(detail),
        "series": [r["tokens_in"] + r["tokens_out"] for p in detail["phases"] for r in p["rounds"]],
        "given": _given(detail["phases"], prefetched),
        "tools": _tools(detail["phases"]),
        "cached": _share(detail.get("cache_read"), detail.get("tokens_in")),
    }


def fate(note: Row) -> str:
    """Returns what became of a person's note, in words."""
    if note["state"] == "delivered":
        return f"read before round {note['round'] + 1} of {phase_name(note['phase']).lower()}"
    if note["state"] == "expired":
        return "expired: the turn ended first"
    return "waits for the next round"


def round_id(phase: str, iteration: int, number: int) -> str:
    """Returns the element id of a round: the live one and the finished one share it."""
    return f"r-{phase}-{iteration}-{number}"


def phase_key(phase: str, iteration: int, host_round: int = 0) -> str:
    """Returns the part of ids that names a phase; a pass may have several judges."""
    return f"{phase}-{iteration}-after-{host_round}" if host_round else f"{phase}-{iteration}"


def one_round(detail: Row, phase: str, iteration: int, number: int) -> Out | None:
    """Returns one round; one that is not recorded yet is drawn as live while the turn runs."""
    key = phase_key(phase, iteration)
    for row in detail["phases"]:
        if (row["phase"], row["iteration"]) == (phase, iteration):
            for found in row["rounds"]:
                if found["n"] == number:
                    return _round(found, key)
            if row["ended_at"] is None and detail["ended_at"] is None:
                return live_round(key, number)
    return None


def live_round(key: str, number: int) -> Out:
    """Returns the round that is being thought now."""
    return {
        "id": f"r-{key}-{number}", "key": key, "n": number + 1, "live": True, "thought": "",
        "thought_secs": None, "speech": "", "calls": [], "note": "", "steer": [],
    }  # fmt: skip


# -- the head -------------------------------------------------------------------------------------


def _steps(detail: Row, phases: Sequence[Out], now: datetime) -> list[Out]:
    began = detail["started_at"]
    first = detail["phases"][0]["started_at"] if detail["phases"] else None
    context = {"kind": "context", "name": "Context", "href": "#given", "secs": None}
    if first is None and detail["ended_at"] is None:
        context |= {"state": "now", "note": "reading"}
    else:
        context |= {"state": "done", "note": _spent(began, first or detail["ended_at"])}
    steps = [
        context,
        *(_step(row, phase) for row, phase in zip(detail["phases"], phases, strict=True)),
    ]
    if (
        detail["ended_at"] is None
        and detail["phases"]
        and detail["phases"][-1]["phase"] == "execute"
    ):
        steps.append(
            {"kind": "review", "name": "Review", "state": "next", "note": "next", "href": ""}
        )
    return steps


def _step(row: Row, phase: Out) -> Out:
    count = len(row["rounds"])
    if phase["state"] == "now":
        most = row["max_rounds"]
        if count > most:
            most = row["round_ceiling"]
        note = f"round {count or 1} of {most}"
    elif phase["state"] == "back":
        note = f"sent back, {_spent(row['started_at'], row['ended_at'])}"
    else:
        rounds = "1 round" if count == 1 else f"{count} rounds"
        note = f"{rounds}, {_spent(row['started_at'], row['ended_at'])}"
    return {
        "kind": row["phase"], "name": phase["name"], "state": phase["state"], "note": note,
        "href": f"#p-{phase['key']}",
    }  # fmt: skip


def _waterfall(detail: Row, now: datetime) -> list[Out]:
    start, end = detail["started_at"], detail["ended_at"] or now
    whole = max(1.0, (end - start).total_seconds())

    def piece(kind: str, left: datetime, right: datetime) -> Out:
        x = (left - start).total_seconds() / whole * 100
        wide = (right - left).total_seconds() / whole * 100
        return {"kind": kind, "x": f"{max(0.0, x):.2f}", "w": f"{max(0.4, wide - 0.2):.2f}"}

    pieces = []
    if detail["phases"]:
        pieces.append(piece("ctx", start, detail["phases"][0]["started_at"]))
    for row in detail["phases"]:
        kind = "rev" if row["phase"] in ("review", "judge") else "exec"
        if row["ended_at"] is None and detail["ended_at"] is None:
            kind = "now"
        elif row["error_kind"]:
            kind = "bad"
        pieces.append(piece(kind, row["started_at"], row["ended_at"] or end))
    return pieces


def _what_went_wrong(detail: Row) -> list[Out]:
    found = []
    stop = detail.get("stop_request")
    stopped = detail.get("outcome") == "stopped" and stop
    if detail.get("error") and not stopped:
        fallback = "stopped" if detail.get("outcome") == "stopped" else "error"
        kind = words(str(detail.get("error_kind") or fallback))
        found.append({"title": kind.capitalize(), "text": detail["error"]})
    for row in detail["phases"]:
        if row["error"]:
            title = f"{phase_name(row['phase'])} failed: {words(row['error_kind'])}"
            found.append({"title": title, "text": row["error"]})
    if stop:
        text = stop["reason"] or "No reason was given."
        did = "stopped" if stopped else "asked to stop"
        found.append({"title": f"{stop['by']} {did} this turn", "text": text})
    return found


# -- the transcript -------------------------------------------------------------------------------


def _phase(row: Row, detail: Row, now: datetime) -> Out:
    key = phase_key(row["phase"], row["iteration"], row.get("host_round", 0))
    state, state_word = _phase_state(row, detail)
    rounds = [_round(found, key) for found in row["rounds"]]
    if state == "now" and not _waits_for_calls(row["rounds"]):
        rounds.append(live_round(key, len(rounds)))
    used = row["tokens_in"] + row["tokens_out"]
    return {
        "key": key,
        "name": phase_name(row["phase"]),
        "ordinal": ORDINALS.get(row["iteration"], f"pass {row['iteration']}"),
        "model": _served(row),
        "tokens": used,
        "count": len(row["rounds"]),
        "state": state,
        "state_word": state_word,
        "rounds": rounds,
        "verdict": _verdict(row),
        "correction": row.get("engine_correction", "") if row["phase"] == "execute" else "",
        "error": row["error"],
        "parts": _parts("system", row) + _parts("user", row),
        "size": row.get("prompt_size"),
    }


def _served(row: Row) -> str:
    """Returns the models that answered, each once, in the order in which they first did."""
    served = [str(r["model"] or r["provider_key"]) for r in row["rounds"] if "model" in r]
    known = list(dict.fromkeys(name for name in served if name))
    return ", then ".join(known) or str(row["model"] or row["provider_key"])


def _phase_state(row: Row, detail: Row) -> tuple[str, str]:
    if row["error_kind"] or row["status"] == "failed":
        return "bad", "Failed"
    if row["ended_at"] is None:
        return ("now", "Running") if detail["ended_at"] is None else ("bad", "Cut off")
    if row["phase"] == "review":
        decision = str((row["verdict"] or {}).get("decision", ""))
        return _DECISIONS.get(decision, ("done", "Finished"))
    if row["phase"] == "judge":
        rounds = int((row["submission"] or {}).get("rounds", 0))
        more = f"{rounds} more round" + ("s" if rounds > 1 else "")
        return "done", f"Granted {more if rounds else 'no more rounds'}"
    said = str((row["submission"] or {}).get("outcome", "delivered"))
    return "done", {"delivered": "Says it is delivered", "no_action": "Says nothing is to do",
                    "blocked": "Says it is blocked"}.get(said, "Finished")  # fmt: skip


def _waits_for_calls(rounds: Sequence[Row]) -> bool:
    return bool(rounds) and any(call["status"] != "done" for call in rounds[-1]["calls"])


def _verdict(row: Row) -> Out | None:
    verdict = row.get("verdict")
    if not verdict:
        return None
    decision = str(verdict.get("decision", ""))
    done, notes = str(verdict.get("completed_work") or ""), str(verdict.get("notes") or "")
    state, word = _DECISIONS.get(decision, ("done", words(decision).capitalize()))
    lead = notes or ("The work is what was asked for." if state == "done" else f"{word}.")
    return {"state": state, "lead": lead, "done": done, "word": word}


def _round(row: Row, key: str) -> Out:
    return {
        "id": f"r-{key}-{row['n']}",
        "key": key,
        "n": row["n"] + 1,
        "live": False,
        "thought": row["reasoning"],
        "thought_secs": round(row["ms"] / 1000, 1) if row.get("ms") else None,
        "speech": row["content"],
        "note": row["note"],
        "steer": row.get("steer", []),
        "calls": [_call(call) for call in row["calls"]],
    }


def _call(call: Row) -> Out:
    server, _, tool = str(call["name"]).rpartition(".")
    pending = call["status"] != "done"
    unseen = "denied" if call.get("denied") else "lost"
    ok = "run" if pending else {True: "yes", False: "no"}.get(call["ok"], unseen)
    result = str(call["result"] or "")
    first = result.strip().splitlines()[0] if result.strip() else ""
    refs = [ref.partition(":")[2] for ref in call.get("refs", [])]
    return {
        "ord": call["ord"],
        "server": call.get("server") or server,
        "tool": tool,
        "args": _one_line(call["args"]) or str(call["args_text"] or "")[:ARGS_LENGTH],
        "args_full": _indented(call["args"], call["args_text"]),
        "ok": ok,
        "note": ", ".join(refs) if refs and ok == "yes" else first[:NOTE_LENGTH],
        "error": first if ok == "no" else "",
        "result": result,
        "refs": list(call.get("refs", [])),
        "ms": call["ms"],
    }


def _one_line(args: Any) -> str:
    if not isinstance(args, dict):
        return ""
    parts = []
    for name, value in args.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        parts.append(f"{name}: {' '.join(text.split())}")
    return "  ".join(parts)[:ARGS_LENGTH]


def _indented(args: Any, raw: str) -> str:
    # Arguments that came as text stay as they came: parsing would round a long number.
    if raw:
        return raw
    return json.dumps(args, ensure_ascii=False, indent=2) if args else ""


# -- the rail -------------------------------------------------------------------------------------


def _parts(side: str, row: Row) -> list[Out]:
    """Cuts a prompt at its outline; parts that do not add up are shown as one."""
    text: str = row.get(side) or ""
    outline = row.get(f"{side}_outline") or []
    raw = text.encode()
    parts, at = [], 0
    for part in outline:
        size = int(part.get("bytes", 0))
        piece = raw[at : at + size].decode("utf-8", "replace")
        parts.append({"title": part.get("title") or part.get("key"), "bytes": size, "text": piece})
        at += size
    rest = raw[at:].decode("utf-8", "replace")
    if rest.strip():
        title = "The rest" if parts else f"The {side} prompt"
        parts.append({"title": title, "bytes": len(raw) - at, "text": rest})
    return parts


def _given(phases: Sequence[Row], prefetched: Collection[str]) -> Out:
    """Returns the outline of the first prompt: what the seat was given."""
    if not phases:
        return {"rows": [], "total": 0, "read": []}
    outline = [*(phases[0]["system_outline"] or []), *(phases[0]["user_outline"] or [])]
    most = max((int(part.get("bytes", 0)) for part in outline), default=0) or 1
    rows = [
        {
            "title": part.get("title") or part.get("key"),
            "bytes": int(part.get("bytes", 0)),
            "pct": round(int(part.get("bytes", 0)) / most * 100, 1),
        }
        for part in outline
    ]
    total = len((phases[0]["system"] or "").encode()) + len((phases[0]["user"] or "").encode())
    read = [
        {"title": part.get("title") or part.get("key"), "bytes": int(part.get("bytes", 0))}
        for part in outline
        if part.get("key") in prefetched
    ]
    return {"rows": rows, "total": total, "read": read}


def _tools(phases: Sequence[Row]) -> list[str]:
    for row in phases:
        if row["tools"]:
            return sorted(
                str(tool.get("name", "") if isinstance(tool, dict) else tool)
                for tool in row["tools"]
            )
    return []


def _share(part: int | None, whole: int | None) -> int | None:
    return round(part / whole * 100) if part is not None and whole else None


def _spent(start: datetime, end: datetime | None) -> str:
    if end is None:
        return ""
    seconds = (end - start).total_seconds()
    if seconds < 60:  # noqa: PLR2004  # below a minute tenths count
        return f"{max(0.0, seconds):.1f} s"
    return f"{int(seconds // 60)}:{int(seconds % 60):02}"
