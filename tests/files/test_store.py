"""Stored bytes, the collector and the audit, on a real folder."""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from crewlet.files import collector, store
from crewlet.files.store import REFERENCES, Reference, Stored
from crewlet.kernel import clock
from crewlet.kernel.errors import Conflict, CrewletError, ErrorCode, Invalid
from crewlet.kernel.registry import thawed


@pytest.fixture(autouse=True)
def folder(settings: Any, tmp_path: Path) -> Path:
    settings.MEDIA_ROOT = tmp_path
    return tmp_path


@pytest.fixture
def named() -> Iterator[list[Reference]]:
    """The only table that names files here: what a test puts in."""
    claims: list[Reference] = []
    with thawed(REFERENCES):
        REFERENCES._entries.clear()
        REFERENCES.register("tests", lambda: claims)
        yield claims


def put(text: bytes) -> Stored:
    return store.put(io.BytesIO(text))


def aged(stored: Stored, hours: int) -> Stored:
    """Makes an object look stored and minted some hours ago."""
    then = clock.now() - timedelta(hours=hours)
    millis = int(then.timestamp() * 1000)
    key = f"{millis:012x}{stored.key[12:]}"
    old, new = store.path_of(stored.key), store.path_of(key)
    new.parent.mkdir(parents=True, exist_ok=True)
    old.rename(new)
    os.utime(new, (then.timestamp(), then.timestamp()))
    return Stored(stored.sha256, stored.size, key)


@pytest.mark.covers("KNOW-72")
def test_bytes_come_back_as_stored_under_a_key_of_their_own() -> None:
    first, second = put(b"lamp"), put(b"lamp")
    assert first.sha256 == hashlib.sha256(b"lamp").hexdigest()
    assert first.size == 4
    assert first.key != second.key
    with store.open_verified(first.key, first.sha256, first.size) as stream:
        assert stream.read() == b"lamp"
    assert not list(store.folder().glob("*/*.part"))


@pytest.mark.covers("KNOW-72")
@pytest.mark.parametrize("damage", [b"lamb", b"lam", b"lamps"])
def test_other_bytes_are_an_error_and_never_shown(damage: bytes) -> None:
    stored = put(b"lamp")
    store.path_of(stored.key).write_bytes(damage)
    with pytest.raises(store.DamagedFile, match="not those that were stored"):
        store.open_verified(stored.key, stored.sha256, stored.size)
    store.path_of(stored.key).unlink()
    with pytest.raises(store.DamagedFile, match="not in the store"):
        store.open_verified(stored.key, stored.sha256, stored.size)


def test_a_file_over_the_limit_is_refused_and_leaves_nothing() -> None:
    assert store.put(io.BytesIO(b"12345"), limit=5).size == 5
    with pytest.raises(CrewletError, match="larger than 5 bytes") as refused:
        store.put(io.BytesIO(b"123456"), limit=5)
    assert refused.value.code is ErrorCode.TOO_LARGE
    assert len([path for path in store.folder().glob("*/*") if path.is_file()]) == 1


def test_a_ticket_names_its_upload_and_nobody_can_forge_one() -> None:
    stored = put(b"lamp")
    paper = store.ticket(stored)
    assert store.redeem(paper) == stored
    with pytest.raises(Invalid, match="upload: this upload is not known"):
        store.redeem(paper.replace(paper[3], "A" if paper[3] != "A" else "B", 1))


@pytest.mark.covers("KNOW-74")
def test_the_collector_deletes_what_nobody_has_named_for_a_day(named: list[Reference]) -> None:
    kept, left, young = aged(put(b"kept"), 30), aged(put(b"left"), 30), put(b"young")
    foreign = store.folder() / "aa" / "notes.txt"
    foreign.parent.mkdir(parents=True, exist_ok=True)
    foreign.write_text("not ours")
    named.append(Reference(kept.key, kept.sha256, kept.size, "ENG/kept"))
    assert collector.collect(clock.now()) == collector.Collected(seen=3, deleted=1)
    assert store.path_of(kept.key).exists()
    assert store.path_of(young.key).exists()
    assert foreign.exists()
    assert not store.path_of(left.key).exists()


@pytest.mark.covers("KNOW-74")
def test_an_unread_list_of_claims_deletes_nothing() -> None:
    left = aged(put(b"left"), 30)

    def breaks() -> Iterator[Reference]:
        yield Reference(left.key, left.sha256, left.size, "ENG/left")
        raise RuntimeError("the table could not be read")

    with thawed(REFERENCES):
        REFERENCES._entries.clear()
        with pytest.raises(Conflict, match="No table has declared"):
            collector.collect(clock.now())
        REFERENCES.register("tests", breaks)
        with pytest.raises(RuntimeError, match="could not be read"):
            collector.collect(clock.now())
    assert store.path_of(left.key).exists()


def test_the_audit_names_missing_and_damaged_files_by_owner(
    named: list[Reference], capsys: pytest.CaptureFixture[str]
) -> None:
    good, gone, bad = put(b"good"), put(b"gone"), put(b"bad")
    for stored, owner in ((good, "ENG/good"), (gone, "ENG/gone"), (bad, "ENG/bad")):
        named.append(Reference(stored.key, stored.sha256, stored.size, owner))
    store.path_of(gone.key).unlink()
    store.path_of(bad.key).write_bytes(b"worse")
    call_command("files", "audit")
    assert capsys.readouterr().out.splitlines() == [
        "3 files checked, 2 bad.", "missing: ENG/gone", "damaged: ENG/bad",
    ]  # fmt: skip
    call_command("files", "collect", "--json")
    assert json.loads(capsys.readouterr().out) == {"seen": 2, "deleted": 0}
