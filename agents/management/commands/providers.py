"""`manage.py providers …`: which models the company thinks with."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandParser

from agents.llm import chain, doctor, nearby, standing, trials
from agents.llm.base import NoProvider, ProviderError
from crewlet.doors.cli import NounCommand, Verb, act
from crewlet.kernel.errors import Invalid, NotFound, Unavailable
from orgs import epochs
from orgs.document.providers import ProviderType
from orgs.epochs import active_revision
from orgs.queries import company


class Command(NounCommand):
    """The models of the company."""

    help = "Models: list, set, test, doctor, find."

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.verbs = {
            "list": Verb("List the company's models, their keys by digest, and what cools.",
                         _list, _list_words),
            "set": Verb("Make the company think with a model; live for new turns.",
                        _set, lambda answer: str(answer["message"]), _set_options),
            "test": Verb("Ask a model for one word and say what it answered.",
                         _test, _test_words, _key),
            "doctor": Verb("Ask every model with every key, and say what to do about each failure.",
                           _doctor, _doctor_words),
            "find": Verb("Look for model servers on this machine.", _find, _find_words),
        }  # fmt: skip


def _key(parser: CommandParser) -> None:
    parser.add_argument("key", nargs="?", default="", help="the provider's key; the first one")


def _set_options(parser: CommandParser) -> None:
    parser.add_argument("key", help="the key under providers.llm, such as default")
    parser.add_argument("--type", required=True, choices=[kind.value for kind in ProviderType])
    parser.add_argument("--model", default="", help="the model's name as the vendor spells it")
    parser.add_argument("--base-url", default="", help="the address of the server, with /v1")
    parser.add_argument(
        "--key-variable", default="", help="the environment variable that holds the API key"
    )


def _list(options: dict[str, Any]) -> dict[str, Any]:
    return {"providers": standing.providers()}


def _list_words(answer: dict[str, Any]) -> str:
    lines = []
    for row in answer["providers"]:
        where = f" at {row['base_url']}" if row["base_url"] else ""
        missing = ", ".join(row["keys_missing"])
        lines.append(
            f"{row['key']}: {row['type']} {row['model']}{where}"
            + ("  (every key cools)" if row["state"] == "cooling" else "")
            + (f"  (not set here: {missing})" if missing else "")
        )
        lines += [_key_words(one) for one in row["keys"] if one["digest"]]
    return "\n".join(lines) or "The company names no model; its mail waits."


def _key_words(one: dict[str, Any]) -> str:
    name = f" {one['variable']}" if one["variable"] else ""
    state = f"cools {one['cooling_seconds']} s" if one["cooling_seconds"] else "ready"
    error = f": {one['last_error']}" if one["last_error"] else ""
    return f"  key {one['digest']}{name}  {state}, {one['in_flight']} calls now{error}"


def _set(options: dict[str, Any]) -> dict[str, Any]:
    revision = active_revision()
    document = company.document_of(revision, redact=False)
    entry = {"type": options["type"]}
    if options["model"]:
        entry["model"] = options["model"]
    if options["base_url"]:
        entry["base_url"] = options["base_url"]
    if options["key_variable"]:
        entry["api_keys"] = [f"${{{options['key_variable']}}}"]
    document.setdefault("providers", {}).setdefault("llm", {})[options["key"]] = entry
    result = act(
        "apply_company",
        {
            "document": document,
            "base": str(revision.id),
            "summary": f"Model {options['key']} is {options['type']} {options['model']}".strip(),
        },
    )
    return {**result.data, "message": result.message}


def _test(options: dict[str, Any]) -> dict[str, Any]:
    entries = epochs.active().document.providers.llm
    if not entries:
        raise NotFound("The company names no model. Add one with `providers set`.")
    key = options["key"] or next(iter(entries))
    if key not in entries:
        raise Invalid(f"There is no provider '{key}'; there is {', '.join(entries)}.", field="key")
    try:
        said, ms = trials.ask(chain.provider_of(key, entries[key]))
    except (NoProvider, ProviderError) as error:
        raise Unavailable(f"{key} did not answer: {error.message}") from error
    return {"key": key, "said": said, "ms": ms}


def _test_words(answer: dict[str, Any]) -> str:
    return f"{answer['key']} answered in {answer['ms']} ms with {answer['said']}"


def _doctor(options: dict[str, Any]) -> dict[str, Any]:
    findings = doctor.examined()
    return {"ok": bool(findings) and all(one["ok"] for one in findings), "findings": findings}


def _doctor_words(answer: dict[str, Any]) -> str:
    lines = []
    for one in answer["findings"]:
        key = " ".join(part for part in (one["variable"], one["digest"]) if part)
        who = one["provider"] + (f", key {key}" if key else "")
        if one["ok"]:
            lines.append(f"{who}: answered in {one['ms']} ms with {one['what']}")
        else:
            lines += [f"{who}: {one['kind']}", f"  what: {one['what']}", f"  do:   {one['do']}"]
    return "\n".join(lines) or "The company names no model. Add one with `providers set`."


def _find(options: dict[str, Any]) -> dict[str, Any]:
    return {
        "servers": [
            {
                "name": found.name,
                "base_url": found.base_url,
                "models": list(found.models),
                "offer": nearby.offer(found),
            }
            for found in nearby.find()
        ]
    }


def _find_words(answer: dict[str, Any]) -> str:
    lines = [row["offer"] for row in answer["servers"]]
    return "\n".join(lines) or "No model server answers at the usual ports of this machine."
