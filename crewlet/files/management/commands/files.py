"""`manage.py files audit|collect`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from crewlet.doors.cli import NounCommand, Verb
from crewlet.files import collector
from crewlet.kernel import clock


def _audit(options: dict[str, Any]) -> dict[str, Any]:
    return asdict(collector.audit())


def _audit_words(answer: dict[str, Any]) -> str:
    bad = [f"missing: {owner}" for owner in answer["missing"]]
    bad += [f"damaged: {owner}" for owner in answer["damaged"]]
    shown = bad[: collector.FILES_LISTED]
    rest = [f"and {len(bad) - len(shown)} more"] if len(bad) > len(shown) else []
    return "\n".join([f"{answer['checked']} files checked, {len(bad)} bad.", *shown, *rest])


def _collect(options: dict[str, Any]) -> dict[str, Any]:
    return asdict(collector.collect(clock.now()))


def _collect_words(answer: dict[str, Any]) -> str:
    return f"{answer['seen']} objects seen, {answer['deleted']} leftovers deleted."


class Command(NounCommand):
    """The file store at a terminal."""

    help = "Check the stored files and delete leftovers."
    verbs = {
        "audit": Verb("Read every file that a row names.", _audit, _audit_words),
        "collect": Verb("Delete what no row has named for a day.", _collect, _collect_words),
    }
