"""What a person can do about a model that fails, for every door that shows it. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from agents.llm.base import ErrorKind

UNSET: Final = "unset"
_DO: Final = {
    ErrorKind.AUTH.value: "Put a valid key into {where} and restart Crewlet; if the key is valid, "
    "give its account access to model {model}.",
    ErrorKind.RATE_LIMIT.value: "Wait, raise the limit or the credit of the account behind "
    "{where}, add another key to api_keys of {provider}, or another model to the chain of its "
    "seats.",
    ErrorKind.TIMEOUT.value: "Raise timeout_seconds of {provider}, or name a faster model.",
    ErrorKind.SERVER.value: "See whether the server at {address} runs; if it is a vendor's, try "
    "again later or add another model to the chain.",
    ErrorKind.FATAL.value: "Correct model ({model}) or base_url ({address}) of {provider}.",
    UNSET: "Set what is missing for {provider}: {missing}, then restart Crewlet.",
}


def advice(kind: str, entry: Mapping[str, Any], variable: str = "") -> str:
    """Returns what to do about a failure of an entry, as `standing.providers` tells entries.

    `kind` is a kind of `ErrorKind`, or `unset`; nothing is advised for any other word.
    """
    provider = f"providers.llm.{entry['key']}"
    return _DO.get(kind, "").format(
        provider=provider,
        where=variable or f"api_keys of {provider}",
        model=entry["model"],
        address=entry["base_url"] or "the vendor's own address",
        missing=", ".join(entry["keys_missing"]) or "what its entry names",
    )
