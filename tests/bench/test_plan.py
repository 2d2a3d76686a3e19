"""What `make bench B=…` asks for."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.plan import FULL, PARTS, QUICK, read


def test_without_arguments_everything_is_measured_in_full() -> None:
    wish = read([])
    assert (wish.plan, wish.parts, wish.json, wish.profile) == (FULL, PARTS, None, False)


def test_quick_measures_the_same_things_less_often() -> None:
    wish = read(["--quick", "--json", "figures.json"])
    assert (wish.plan, wish.parts, wish.json) == (QUICK, PARTS, Path("figures.json"))
    assert QUICK.passes * QUICK.single_turns < FULL.passes * FULL.single_turns


def test_parts_keep_their_order_whatever_the_command_line_says() -> None:
    assert read(["--only", "sockets", "--only", "turns"]).parts == ("turns", "sockets")


def test_an_unknown_part_is_refused_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        read(["--only", "kitchens"])
    assert ended.value.code == 2
    assert "'kitchens'" in capsys.readouterr().err


def test_a_burst_fits_the_queue_of_a_socket() -> None:
    from crewlet.kernel.hub import QUEUE_FRAMES

    assert max(QUICK.burst, FULL.burst) < QUEUE_FRAMES
