"""`manage.py company …`: check, import, export and look after the company document."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.management.base import CommandParser

from crewlet.doors.cli import NounCommand, Verb, act
from crewlet.kernel.errors import CrewletError, ErrorCode, Invalid
from orgs.document.problems import Problem, ProblemKind
from orgs.document.schema import schema, schema_text
from orgs.document.summary import facts
from orgs.document.validation import validate_text
from orgs.document.writing import to_yaml
from orgs.epochs import active_revision
from orgs.queries import company
from orgs.revisions import document_diff
from orgs.setup.templates import Template
from orgs.setup.thinking import Thinking

INVALID_EXIT = 1


class Command(NounCommand):
    """The company document."""

    help = (
        "The company document: create, validate, schema, import, export, show, revisions, diff, "
        "activate, revert, reload, references."
    )
    requires_system_checks = []

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.exit_code = 0
        self.verbs = {
            "validate": Verb("Check a file: every problem at once, with its line.",
                             self._validate, _validation_words, _file),
            "schema": Verb("Print the JSON Schema of the document.",
                           _schema, lambda answer: answer["text"].rstrip(), _out),
            "create": Verb("Create the first company from a template and make it run.",
                           _create, _applied_words, _creation_options),
            "import": Verb("Check a file, say what it changes, store it and make it the running "
                           "company.",
                           self._import, _imported_words, _import_options),
            "export": Verb("Print the running document as YAML.",
                           _export, lambda answer: answer["text"].rstrip(), _export_options),
            "show": Verb("Show the running company in short.", _show, _show_words),
            "revisions": Verb("List stored revisions, the newest first.",
                              _revisions, _revision_words, _limit),
            "diff": Verb("Show what a stored revision changed, by seat, unit and provider.",
                         _diff, _diff_words, _diff_options),
            "activate": Verb("Make a stored revision live again; the running one is republished.",
                             _activate, _applied_words, _activate_options),
            "revert": Verb("Bring the document of an earlier revision back, as a new revision.",
                           _activate, _applied_words, _activate_options),
            "reload": Verb("Publish the running document again, so that new values take hold.",
                           _reload, _applied_words, _why),
            "references": Verb("List every ${NAME} of the running document and where it stands.",
                               _references, _reference_words),
        }  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Runs the verb; a file with problems exits with 1 in both modes."""
        super().handle(*args, **options)
        if self.exit_code:
            sys.exit(self.exit_code)

    def _validate(self, options: dict[str, Any]) -> dict[str, Any]:
        file = options["file"]
        try:
            reading = validate_text(_text(file))
        except Invalid as error:
            self.exit_code = INVALID_EXIT
            problem = Problem((), ProblemKind.MISSING, error.message)
            return {
                "file": file,
                "valid": False,
                "problems": [problem.to_json()],
                "warnings": [],
                "facts": None,
            }
        self.exit_code = INVALID_EXIT if reading.problems else 0
        return {
            "file": file,
            "valid": not reading.problems,
            "problems": [problem.to_json() for problem in reading.problems],
            "warnings": [caution.to_json() for caution in reading.warnings],
            "facts": facts(reading),
        }

    def _import(self, options: dict[str, Any]) -> dict[str, Any]:
        file = options["file"]
        text = _text(file).decode("utf-8", "replace")
        base = _revision(options["base"]) if options["base"] else None
        try:
            if options["dry_run"]:
                result = act("check_company", {"document": text, "base": base})
                found = document_diff(text)
                return {**result.data, "differences": found, "message": result.message}
            summary = options["summary"] or f"Import of {Path(file).name}"
            args = {"document": text, "base": base, "summary": summary, "source": "file"}
            result = act("apply_company", args)
        except CrewletError as error:
            if error.code is ErrorCode.VALIDATION_ERROR and not options["json"]:
                for problem in error.detail["problems"]:
                    self.stderr.write(_problem_line(file, problem))
            raise
        if result.data["status"] == "stored":
            self.exit_code = INVALID_EXIT
        found = company.revision_diff(UUID(result.data["revision_id"]))["differences"]
        return {**result.data, "differences": found, "message": result.message}


def _file(parser: CommandParser) -> None:
    parser.add_argument("file", help="a YAML or JSON file; - reads standard input")


def _out(parser: CommandParser) -> None:
    parser.add_argument("-o", "--output", help="write to this file instead of printing")


def _import_options(parser: CommandParser) -> None:
    _file(parser)
    parser.add_argument("--dry-run", action="store_true", help="check to the end, keep nothing")
    parser.add_argument("--summary", default="", help="one sentence for the history")
    parser.add_argument("--base", help="the revision the file was made from")


def _export_options(parser: CommandParser) -> None:
    _out(parser)
    parser.add_argument("--redact", action="store_true", help="hide keys that are written out")


def _limit(parser: CommandParser) -> None:
    parser.add_argument("--limit", type=int, default=20)


def _diff_options(parser: CommandParser) -> None:
    parser.add_argument("revision", help="the revision's id; `current` is the running one")
    parser.add_argument("--against", help="another revision; by default the one it was made from")


def _activate_options(parser: CommandParser) -> None:
    parser.add_argument("revision", help="the revision's id; `current` republishes the running one")
    _why(parser)


def _why(parser: CommandParser) -> None:
    parser.add_argument("--summary", default="", help="one sentence for the history")


def _creation_options(parser: CommandParser) -> None:
    parser.add_argument("name", help="what the company is called")
    parser.add_argument("--mission", default="", help="what it does, in a sentence")
    parser.add_argument("--timezone", default="UTC", help="where its days begin: Europe/Lisbon")
    parser.add_argument("--template", default="new", choices=[t.value for t in Template],
                        help="what its chart begins with (new)")  # fmt: skip
    parser.add_argument("--founder", default="", help="the name on a person's seat at the top")
    parser.add_argument("--thinking", default="none", choices=[t.value for t in Thinking],
                        help="who thinks for the seats (none: nobody yet)")  # fmt: skip
    parser.add_argument("--model", default="", help="the model; without it the usual one")
    parser.add_argument("--base-url", default="", help="address of a local server, with /v1")


_CREATION = ("name", "mission", "timezone", "template", "founder", "thinking", "model", "base_url")


def _create(options: dict[str, Any]) -> dict[str, Any]:
    result = act("create_company", {name: options[name] for name in _CREATION})
    return {**result.data, "warnings": [], "message": result.message}


def _text(file: str) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise Invalid(f"{file} cannot be read: {error.strerror}.", field="file") from error


def _revision(text: str) -> str:
    try:
        return str(UUID(text))
    except ValueError as error:
        raise Invalid("That is not a revision id: see `company revisions`.") from error


def _written(text: str, output: str | None) -> str:
    if not output:
        return text
    Path(output).write_text(text, encoding="utf-8")
    return f"Written to {output}."


def _schema(options: dict[str, Any]) -> dict[str, Any]:
    return {"text": _written(schema_text(), options["output"]), "schema": schema()}


def _export(options: dict[str, Any]) -> dict[str, Any]:
    revision = active_revision()
    document = company.document_of(revision, redact=options["redact"])
    text = _written(to_yaml(document), options["output"])
    return {"revision_id": str(revision.id), "document": document, "text": text}


def _show(options: dict[str, Any]) -> dict[str, Any]:
    return company.org_view(with_config=True)


def _revisions(options: dict[str, Any]) -> dict[str, Any]:
    return {"revisions": company.revisions(limit=max(1, options["limit"]))}


def _diff(options: dict[str, Any]) -> dict[str, Any]:
    against = UUID(_revision(options["against"])) if options["against"] else None
    return company.revision_diff(UUID(_named(options["revision"])), against)


def _named(text: str) -> str:
    return str(active_revision().id) if text == "current" else _revision(text)


def _activate(options: dict[str, Any]) -> dict[str, Any]:
    revision = _named(options["revision"])
    result = act("activate_revision", {"revision": revision, "summary": options["summary"]})
    return {**result.data, "message": result.message}


def _reload(options: dict[str, Any]) -> dict[str, Any]:
    result = act("reload_company", {"summary": options["summary"]})
    return {**result.data, "message": result.message}


def _references(options: dict[str, Any]) -> dict[str, Any]:
    return company.reference_index()


def _reference_words(answer: dict[str, Any]) -> str:
    lines = [f"{row['name']}: {', '.join(row['paths'])}" for row in answer["references"]]
    return "\n".join(lines) or "The document refers to nothing outside."


def _problem_line(file: str, problem: dict[str, Any]) -> str:
    line = f":{problem['line']}" if problem["line"] else ""
    place = f" {problem['path']}:" if problem["path"] else ""
    return f"{file}{line}:{place} {problem['message']}"


def _validation_words(answer: dict[str, Any]) -> str:
    file = answer["file"]
    lines = [_problem_line(file, problem) for problem in answer["problems"]]
    lines += [_problem_line(file, w).replace(": ", ": warning: ", 1) for w in answer["warnings"]]
    known = answer["facts"]
    if answer["valid"]:
        lines.append(
            f"{file} is a valid company: {known['name']}, "
            f"{_counted(known['agents'], 'agent seat')}, "
            f"{_counted(known['humans'], 'human seat')}, {_counted(known['units'], 'unit')}."
        )
    else:
        lines.append(f"{_counted(len(answer['problems']), 'problem')}. Nothing was changed.")
    return "\n".join(lines)


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _applied_words(answer: dict[str, Any]) -> str:
    cautions = [f"warning: {c['path'] or c['seat']}: {c['message']}" for c in answer["warnings"]]
    return "\n".join([*cautions, answer["message"]])


def _imported_words(answer: dict[str, Any]) -> str:
    return "\n".join([_diff_words(answer), _applied_words(answer)])


def _show_words(view: dict[str, Any]) -> str:
    lines = [f"{view['name']} (epoch {view['epoch']}, {view['timezone']})"]
    for seat in view["seats"]:
        above = f", reports to {seat['primary_manager']}" if seat["primary_manager"] else ""
        place = f" in {seat['unit']}" if seat["unit"] else ""
        lines.append(f"  {seat['handle']}: {seat['name']} ({seat['kind']}){place}{above}")
    return "\n".join(lines)


def _diff_words(answer: dict[str, Any]) -> str:
    lines = []
    for row in answer["differences"]:
        if row["field"]:
            values = (json.dumps(row[side], ensure_ascii=False) for side in ("before", "after"))
            lines.append(f"~ {row['entity']}: {row['field']}: {' -> '.join(values)}")
        else:
            lines.append(f"{'+' if row['kind'] == 'added' else '-'} {row['entity']}")
    return "\n".join(lines) or "Nothing is different."


def _revision_words(answer: dict[str, Any]) -> str:
    rows = answer["revisions"]
    if not rows:
        return "No revision is stored yet."
    return "\n".join(
        f"{'*' if row['active'] else ' '} {row['id']}  {row['created_at'][:16]}  "
        f"{row['author']}: {row['summary']}"
        for row in rows
    )
