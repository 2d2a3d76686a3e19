"""The page of environment variables. The reader itself says which it reads and what stands in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from crewlet.environment import TOKEN_PREFIX, Env, read
from crewlet.ops.reference.markdown import code, table

# name → (what stands in when it is absent, what it is for). `=` takes the field of Env of that
# name; anything else is said as it stands, because it depends on the machine.
VARIABLES: Mapping[str, tuple[str, str]] = {
    "DATABASE_URL": (
        "the embedded Postgres",
        "Where Postgres (16 or later) is: `postgresql://user:password@host:5432/name`.",
    ),
    "REDIS_URL": (
        "the embedded Valkey",
        "Where Redis or Valkey (7 or later) is: `redis://host:6379/0`, or `unix://PATH?db=0`.",
    ),
    "SECRET_KEY": (
        "the file `secret.key` of the data folder",
        "Signs sessions and seals stored secrets. Keep it: what was sealed with it opens with "
        "nothing else.",
    ),
    "CREWLET_DATA_DIR": (
        "`var` in the checkout",
        "Where the embedded servers keep their data, the key and the logs.",
    ),
    "CREWLET_NODE_ID": ("the host name", "The name of this worker; no two live ones may share it."),
    "CREWLET_NODE_ROLES": (
        "both",
        "What a worker does: `seats`, `duties`, or both with a comma.",
    ),
    "CREWLET_MAX_CONCURRENT": ("=max_concurrent", "How many turns a worker runs at a time."),
    "CREWLET_LEASE_TTL": (
        "=lease_ttl",
        "Seconds after which a silent worker's seats pass to another one.",
    ),
    "CREWLET_SWEEP_SECONDS": (
        "=sweep_seconds",
        "Seconds between two looks of a worker at the mail of its seats.",
    ),
    "CREWLET_DB_POOL": ("=pool_size", "How many database connections a process holds at most."),
    "CREWLET_IDLE_TRANSACTION_SECONDS": (
        "a quarter of the lease",
        "Seconds after which Postgres ends a transaction that does nothing.",
    ),
    "CREWLET_PUBLIC_URL": (
        "=public_url",
        "The address under which people open the site; sign-in links begin with it. `https` makes "
        "cookies secure.",
    ),
    "EMAIL_URL": (
        "none: nothing leaves by e-mail",
        "The mail server that people hear through: `smtp+tls://user:password@host:587?from=ME` "
        "(STARTTLS), `smtps://…:465` or `smtp://…:25`. Escape `@`, `:` and `/` in the password.",
    ),
    "CREWLET_COMPANY_WRITERS": (
        "everybody who holds `config:write`",
        "The only credentials that may change the company document, with commas: `token:<name>`, "
        "`pat:<login>/<label>`, `session:<login>`, `shell`. For a company that is kept elsewhere.",
    ),
    "CREWLET_ALLOWED_HOSTS": (
        "this machine, and the host of CREWLET_PUBLIC_URL",
        "Other host names under which the site is asked, with commas.",
    ),
    "CREWLET_REDIS_PREFIX": (
        "=redis_prefix",
        "What every key in Redis begins with; give two installs on one Redis different ones.",
    ),
    f"{TOKEN_PREFIX}<NAME>": (
        "none",
        "A bearer token, 26 characters or more. Its holder is the machine `token:<name>` with "
        "every grant.",
    ),
    "CREWLET_LOG_LEVEL": ("=log_level", "`DEBUG`, `INFO`, `WARNING` or `ERROR`."),
    "CREWLET_LOG_FORMAT": ("=log_format", "`console` for people, `json` for programs."),
    "CREWLET_FAILPOINT": (
        "none",
        "For crash tests: the name of a failpoint at which the process kills itself.",
    ),
    "CREWLET_REHEARSAL_PACE": (
        "=rehearsal_pace",
        "Seconds that a rehearsed model answer takes; `0` to rehearse at full speed.",
    ),
    "CREWLET_MANIFEST_STATIC": (
        "`0`",
        "`1` serves static files under hashed names from the folder that `collectstatic` filled.",
    ),
    "OTEL_EXPORTER_OTLP_ENDPOINT": (
        "none: no spans are made",
        "A collector of OpenTelemetry that takes OTLP over HTTP, such as `http://localhost:4318`. "
        "The other `OTEL_*` variables are read as OpenTelemetry documents them.",
    ),
    "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": (
        "none",
        "The same for traces alone, with its whole path.",
    ),
    "ANTHROPIC_API_KEY": (
        "none",
        "Found when the demo company is created; a document names it as `${ANTHROPIC_API_KEY}`.",
    ),
    "OPENAI_API_KEY": (
        "none",
        "Found when the demo company is created; a document names it as `${OPENAI_API_KEY}`.",
    ),
}


class Untold(Exception):
    """A variable is read that this page does not tell, or told and never read."""


def body() -> str:
    """Gives the table of variables; raises Untold when it and the reader disagree."""
    read_names, env = _asked()
    told = set(VARIABLES) - {f"{TOKEN_PREFIX}<NAME>"}
    if told != read_names:
        raise Untold(
            f"VARIABLES in crewlet/ops/reference/environment.py and crewlet/environment.py "
            f"disagree about {', '.join(sorted(told ^ read_names))}."
        )
    rows = [
        (code(name), _stand_in(given, env), meaning) for name, (given, meaning) in VARIABLES.items()
    ]
    return table(("variable", "without it", "meaning"), rows)


def _stand_in(given: str, env: Env) -> str:
    if not given.startswith("="):
        return given
    value = getattr(env, given[1:])
    return code(f"{value:g}" if isinstance(value, float) else str(value))


def _asked() -> tuple[set[str], Env]:
    asked = _Asked()
    env = read(asked, Path("/nowhere"))
    return asked.names, env


class _Asked(Mapping[str, str]):
    """An empty environment that remembers what was looked for."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0
