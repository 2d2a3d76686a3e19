"""The docs say what the code says: generated pages, links, commands, examples, promises."""

from __future__ import annotations

import ast
import re
from enum import StrEnum
from functools import cache
from pathlib import Path

import pytest
from django.core.management import call_command, get_commands

from crewlet.kernel.actions import ACTIONS
from crewlet.ops.reference import build, commands, coverage, environment
from crewlet.ops.reference.markdown import anchor, table
from crewlet.ops.reference.pages import PAGES, STATES, state_table
from crewlet.ops.reference.shapes import objects
from orgs.document.validation import validate_text
from tests.rules.source import ROOT, tell

LONGEST_README = 200
LARGEST_PICTURE = 200_000
FENCE = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|srcset)=\"([^\"]+)\"")
HEADING = re.compile(r"^#{1,6} (.+)$", re.MULTILINE)
COMMAND = re.compile(r"manage\.py ([a-z_]+)((?: [a-z-]+)?)")
MAKE = re.compile(r"^(?:[A-Z_]+=\S+ )*make ([a-z-]+)", re.MULTILINE)
PROMISE = re.compile(r"^\|[^|]+\| \[(test_\w+)\]\((tests/[\w/]+\.py)\) \|$", re.MULTILINE)


@cache
def pages() -> dict[Path, str]:
    """Gives every page by its path."""
    files = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return {file: file.read_text(encoding="utf-8") for file in files}


def anchors(text: str) -> set[str]:
    return {anchor(heading.replace("`", "")) for heading in HEADING.findall(FENCE.sub("", text))}


def broken(file: Path, text: str) -> list[str]:
    """Names the links of a page that lead nowhere."""
    found = []
    for given, source in LINK.findall(FENCE.sub("", text)):
        link = given or source
        if re.match(r"[a-z]+:", link):
            continue
        path, _, fragment = link.partition("#")
        target = (file.parent / path).resolve() if path else file
        if not target.exists():
            found.append(f"{file.relative_to(ROOT)}: {link} is not there")
        elif fragment and fragment not in anchors(target.read_text(encoding="utf-8")):
            found.append(f"{file.relative_to(ROOT)}: {link} names no heading")
    return found


def test_generated_pages_are_fresh() -> None:
    tell(build.stale(ROOT), "Run `make docs` and commit what it writes.")


def test_every_generated_page_is_made_by_somebody() -> None:
    made = {f"{stem}.md" for stem in (*build.OWN, *PAGES)} | {"performance.md"}
    there = {file.name for file in (ROOT / build.FOLDER).glob("*.md")}
    tell(sorted(there - made), "Nobody makes this page any more; delete it.")


def test_every_link_leads_somewhere() -> None:
    tell(
        [line for file, text in pages().items() for line in broken(file, text)],
        "Mend the link, or what it led to.",
    )


def test_the_rule_sees_a_broken_link() -> None:
    readme = ROOT / "README.md"
    text = "[a](nowhere.md) [b](README.md#no-such-heading) [c](https://example.org) [d](LICENSE)"
    assert len(broken(readme, text)) == 2


def test_every_command_that_is_printed_exists() -> None:
    known = {name: commands.verbs_of(name, command) for name, command in commands.ours()}
    problems = []
    for file, text in pages().items():
        for noun, verb in COMMAND.findall(text):
            verbs = known.get(noun, {})
            where = f"{file.relative_to(ROOT)}: manage.py {noun}{verb}"
            if noun not in get_commands() or (verb and verbs and verb.strip() not in verbs):
                problems.append(where)
    tell(problems, "There is no such command; `manage.py help` lists them.")


def test_every_make_target_that_is_printed_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    problems = [
        f"{file.relative_to(ROOT)}: make {target}"
        for file, text in pages().items()
        for _, block in FENCE.findall(text)
        for target in MAKE.findall(block)
        if target not in targets
    ]
    tell(problems, "The Makefile has no such target.")


def test_every_promise_of_the_readme_has_its_test() -> None:
    readme = pages()[ROOT / "README.md"]
    promises = PROMISE.findall(readme)
    assert len(promises) >= 10, "the table of promises was not read"
    problems = []
    for test, path in promises:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        if test not in names:
            problems.append(f"{path} has no {test}")
    tell(problems, "A promise without its test is not made: name the new test, or take it out.")


def test_the_readme_stays_short_and_its_pictures_light() -> None:
    assert len(pages()[ROOT / "README.md"].splitlines()) < LONGEST_README
    tell(
        [
            f"{file.name} has {file.stat().st_size} bytes"
            for file in (ROOT / "docs" / "images").glob("*")
            if file.stat().st_size > LARGEST_PICTURE
        ],
        f"A picture has at most {LARGEST_PICTURE} bytes.",
    )


def test_companies_in_the_docs_are_valid() -> None:
    found = [
        block
        for text in pages().values()
        for kind, block in FENCE.findall(text)
        if kind == "yaml" and block.startswith("name:")
    ]
    assert found, "no company stands in the docs"
    for block in found:
        assert not validate_text(block.encode()).problems


def test_state_tables_stand_in_the_pages_that_ask_for_them() -> None:
    turn = pages()[ROOT / "docs" / "contributor" / "the-turn.md"]
    assert state_table(STATES["turn"]) in turn
    for states in STATES.values():
        for member in states:
            assert f"| {member.value} |" in state_table(states)


def test_a_state_without_a_row_is_refused() -> None:
    class Lamp(StrEnum):
        """A lamp.

        | state | means |
        |---|---|
        | on | it burns |
        """

        ON = "on"
        OFF = "off"

    with pytest.raises(ValueError, match="off"):
        state_table(Lamp)


def test_a_stale_page_and_a_stale_table_are_found_and_mended(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "turn.md"
    page.parent.mkdir()
    page.write_text("# Turn\n\n<!-- states: turn -->\nold\n<!-- /states -->\n\nThe end.\n")
    assert "docs/turn.md" in build.stale(tmp_path)
    written = build.build(tmp_path)
    assert {"docs/turn.md", "docs/reference/actions.md"} <= set(written)
    assert page.read_text().endswith("<!-- /states -->\n\nThe end.\n")
    assert state_table(STATES["turn"]) in page.read_text()
    assert build.stale(tmp_path) == []


def test_the_command_names_what_is_stale_and_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(build, "stale", lambda _root: ["docs/reference/actions.md"])
    with pytest.raises(SystemExit) as ended:
        call_command("docs", "check")
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "docs/reference/actions.md" in said
    assert "manage.py docs build" in said
    monkeypatch.setattr(build, "stale", lambda _root: [])
    call_command("docs", "check")
    assert "Every generated page is fresh." in capsys.readouterr().out


def test_every_action_has_a_section_with_its_doors() -> None:
    text = pages()[ROOT / build.FOLDER / "actions.md"]
    for entry in ACTIONS.all():
        assert f"\n### {entry.name}\n" in text
        for field in entry.args.model_fields:
            assert f"| `{field}` |" in text


def test_an_untold_variable_stops_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    told = {k: v for k, v in environment.VARIABLES.items() if k != "REDIS_URL"}
    monkeypatch.setattr(environment, "VARIABLES", told)
    with pytest.raises(environment.Untold, match="REDIS_URL"):
        environment.body()


def test_a_requirement_belongs_to_the_test_that_is_marked_with_it() -> None:
    text = (
        '"""About TURN-4."""\n\npytestmark = [pytest.mark.unit, pytest.mark.covers("TURN-1")]\n\n'
        '@pytest.mark.covers("TURN-2", "ORG-3")\n'
        "@pytest.mark.timeout(9)\n"
        "def test_one() -> None:\n    assert 'ENG-4 TURN-9'\n"
    )
    assert sorted(coverage.marked_in(text)) == [
        ("ORG-3", "test_one"),
        ("TURN-1", ""),
        ("TURN-2", "test_one"),
    ]


def test_a_cell_cannot_break_its_table() -> None:
    assert table(("a", "b"), [("x|y", "one\ntwo")]).splitlines()[-1] == r"| x\|y | one two |"


def test_a_schema_is_told_with_its_parts_secrets_and_limits() -> None:
    schema = {
        "title": "Lamp",
        "required": ["bulb"],
        "properties": {
            "bulb": {"$ref": "#/$defs/Bulb"},
            "names": {"type": "array", "items": {"type": "string", "x-crewlet-secret": True}},
            "watts": {"type": "integer", "maximum": 60, "default": 5},
        },
        "$defs": {"Bulb": {"type": "object", "properties": {"kind": {"enum": ["led", "arc"]}}}},
    }
    text = objects(schema)
    assert "| `bulb` | [Bulb](#bulb) | needed |  |" in text
    assert "| `names` | list of text |  | A secret" in text
    assert "| `watts` | whole number | `5` | At most 60. |" in text
    assert "## Bulb" in text
    assert "| `kind` | `led`, `arc` |  |  |" in text
