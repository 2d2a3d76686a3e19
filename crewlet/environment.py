"""The one reader of environment variables: strings in, one frozen, typed `Env` out.

Pure standard library, no Django: `manage.py up` and the test harness read it before settings exist.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

BASE_DIR = Path(__file__).resolve().parent.parent

# sun_path holds 108 bytes on Linux and 104 on macOS; Postgres appends ".s.PGSQL.5432.lock".
LONGEST_SOCKET_FOLDER = 80
MAIL_PORTS = {"smtp": 25, "smtp+tls": 587, "smtps": 465}
NODE_ROLES = frozenset({"seats", "duties"})
TOKEN_PREFIX = "CREWLET_API_TOKEN_"  # noqa: S105 - the name of a variable, not a secret


class BadEnvironment(Exception):
    """An environment variable holds what Crewlet cannot use; the message names the remedy."""


@dataclass(frozen=True)
class MailServer:
    """Where e-mail to people is handed in, and whom it comes from."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)
    security: str
    sender: str


@dataclass(frozen=True)
class Env:
    """What the environment says, checked and typed. Durations are seconds, sizes are counts."""

    data_dir: Path
    database_url: str
    redis_url: str
    embedded_database: bool
    embedded_redis: bool
    secret_key: str = field(repr=False)
    node_id: str
    roles: frozenset[str]
    max_concurrent: int
    lease_ttl: float
    sweep_seconds: float
    pool_size: int
    idle_transaction_seconds: float
    public_url: str
    mail: MailServer | None = field(repr=False)
    company_writers: frozenset[str]
    allowed_hosts: tuple[str, ...]
    redis_prefix: str
    api_tokens: Mapping[str, str] = field(repr=False)
    log_level: str
    log_format: str
    failpoint: str
    rehearsal_pace: float
    manifest_static: bool
    traces: bool
    anthropic_api_key: str = field(repr=False)
    openai_api_key: str = field(repr=False)

    @property
    def heartbeat(self) -> float:
        """Seconds between two renewals of a lease: a third of its life."""
        return self.lease_ttl / 3

    @property
    def broker_url(self) -> str:
        """The Redis URL in the spelling kombu wants (a unix socket is written otherwise there)."""
        return broker_url(self.redis_url)

    @property
    def run_dir(self) -> Path:
        """The folder that holds the embedded servers' sockets."""
        return run_dir(self.data_dir)

    @property
    def secret_key_file(self) -> Path:
        """Where an embedded install keeps its sealing key."""
        return self.data_dir / "secret.key"


def read(environ: Mapping[str, str], base_dir: Path = BASE_DIR) -> Env:
    """Returns the typed environment; works with an empty one.

    Without DATABASE_URL / REDIS_URL the URLs of the embedded servers stand in, known before the
    servers run. Without SECRET_KEY the key file of the data folder is read; without that too the
    key is empty, and Django refuses in words whoever signs with it.
    """
    reader = _Reader(environ)
    data_dir = Path(reader.text("CREWLET_DATA_DIR", str(base_dir / "var"))).expanduser().absolute()
    sockets = run_dir(data_dir)
    lease_ttl = reader.number("CREWLET_LEASE_TTL", 45.0, least=1.0)
    public_url = reader.url("CREWLET_PUBLIC_URL", "http://localhost:8000")
    return Env(
        data_dir=data_dir,
        database_url=reader.text("DATABASE_URL", embedded_database_url(sockets)),
        redis_url=reader.text("REDIS_URL", embedded_redis_url(sockets)),
        embedded_database=not reader.text("DATABASE_URL"),
        embedded_redis=not reader.text("REDIS_URL"),
        secret_key=reader.text("SECRET_KEY") or _stored_key(data_dir / "secret.key"),
        node_id=reader.name("CREWLET_NODE_ID", socket.gethostname()),
        roles=reader.roles("CREWLET_NODE_ROLES"),
        max_concurrent=reader.count("CREWLET_MAX_CONCURRENT", 32),
        lease_ttl=lease_ttl,
        sweep_seconds=reader.number("CREWLET_SWEEP_SECONDS", 5.0, least=0.05),
        pool_size=reader.count("CREWLET_DB_POOL", 10),
        # A frozen holder of a lease must lose its transaction before the lease can pass on.
        idle_transaction_seconds=reader.number(
            "CREWLET_IDLE_TRANSACTION_SECONDS", lease_ttl / 4, least=0.05
        ),
        public_url=public_url,
        mail=reader.mail("EMAIL_URL", urlsplit(public_url).hostname or "localhost"),
        company_writers=reader.words("CREWLET_COMPANY_WRITERS"),
        allowed_hosts=_allowed_hosts(reader.text("CREWLET_ALLOWED_HOSTS"), public_url),
        redis_prefix=reader.text("CREWLET_REDIS_PREFIX", "crewlet"),
        api_tokens=reader.tokens(),
        log_level=reader.choice(
            "CREWLET_LOG_LEVEL", "INFO", ("DEBUG", "INFO", "WARNING", "ERROR"), upper=True
        ),
        log_format=reader.choice("CREWLET_LOG_FORMAT", "console", ("console", "json")),
        failpoint=reader.text("CREWLET_FAILPOINT"),
        rehearsal_pace=reader.number("CREWLET_REHEARSAL_PACE", 0.6, least=0.0),
        manifest_static=reader.flag("CREWLET_MANIFEST_STATIC"),
        # Only whether there is a collector; OpenTelemetry reads these and its others itself.
        traces=bool(
            reader.text("OTEL_EXPORTER_OTLP_ENDPOINT")
            or reader.text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        ),
        anthropic_api_key=reader.text("ANTHROPIC_API_KEY"),
        openai_api_key=reader.text("OPENAI_API_KEY"),
    )


def run_dir(data_dir: Path) -> Path:
    """Returns the socket folder of a data folder: inside it, or a short one of the same name for
    the same data folder when the path would not fit into a socket address."""
    inside = data_dir / "run"
    if len(os.fsencode(inside)) <= LONGEST_SOCKET_FOLDER:
        return inside
    digest = hashlib.sha256(os.fsencode(data_dir)).hexdigest()[:16]
    return Path(tempfile.gettempdir()) / f"crewlet-{digest}"


def embedded_database_url(sockets: Path) -> str:
    """Returns the URL of the embedded Postgres whose socket lies in `sockets`."""
    return f"postgresql://postgres@/crewlet?{urlencode({'host': str(sockets)})}"


def embedded_redis_url(sockets: Path) -> str:
    """Returns the URL of the embedded Valkey in `sockets`, as redis-py reads it."""
    return f"unix://{quote(str(sockets / 'valkey.sock'))}?db=0"


def broker_url(redis_url: str) -> str:
    """Returns `redis_url` as kombu reads it; only the unix socket form differs."""
    parts = urlsplit(redis_url)
    if parts.scheme != "unix":
        return redis_url
    database = parse_qs(parts.query).get("db", ["0"])[0]
    credentials = f"{parts.netloc}" if parts.netloc else ""
    return f"redis+socket://{credentials}{parts.path}?virtual_host={database}"


def _stored_key(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return ""


def _allowed_hosts(listed: str, public_url: str) -> tuple[str, ...]:
    hosts = {"localhost", "127.0.0.1", "[::1]"}
    hosts.update(host.strip() for host in listed.split(",") if host.strip())
    public = urlsplit(public_url).hostname
    if public:
        hosts.add(public)
    return tuple(sorted(hosts))


class _Reader:
    """Reads one variable at a time; an empty value counts as absent."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def text(self, name: str, default: str = "") -> str:
        return self._environ.get(name, "").strip() or default

    def number(self, name: str, default: float, *, least: float) -> float:
        given = self.text(name)
        if not given:
            return default
        try:
            value = float(given)
        except ValueError:
            raise BadEnvironment(
                f"{name} is {given!r}; give a number, such as {default:g}."
            ) from None
        if not least <= value < float("inf"):
            raise BadEnvironment(f"{name} is {given}; give {least:g} or more.")
        return value

    def count(self, name: str, default: int) -> int:
        given = self.text(name)
        if not given:
            return default
        if not given.isdecimal() or int(given) < 1:
            raise BadEnvironment(f"{name} is {given!r}; give a whole number, 1 or more.")
        return int(given)

    def flag(self, name: str) -> bool:
        return self.choice(name, "0", ("0", "1", "false", "true")) in {"1", "true"}

    def choice(
        self, name: str, default: str, allowed: tuple[str, ...], *, upper: bool = False
    ) -> str:
        given = self.text(name, default)
        value = given.upper() if upper else given.lower()
        if value not in allowed:
            raise BadEnvironment(f"{name} is {given!r}; give one of {', '.join(allowed)}.")
        return value

    def name(self, name: str, default: str) -> str:
        given = self.text(name)
        if given and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_-]{0,62}", given):
            raise BadEnvironment(
                f"{name} is {given!r}; use letters, digits, '-' and '_', at most 63 of them."
            )
        return given or re.sub(r"[^A-Za-z0-9_-]+", "-", default)[:63].strip("-") or "node"

    def url(self, name: str, default: str) -> str:
        given = self.text(name, default).rstrip("/")
        parts = urlsplit(given)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadEnvironment(
                f"{name} is {given!r}; give an address like https://crewlet.example."
            )
        return given

    def mail(self, name: str, domain: str) -> MailServer | None:
        given = self.text(name)
        if not given:
            return None
        try:
            parts = urlsplit(given)
            port, query = parts.port, parse_qs(parts.query)
        except ValueError:
            parts, port, query = urlsplit(""), None, {}
        if parts.scheme not in MAIL_PORTS or not parts.hostname or set(query) - {"from"}:
            # Never the value: it holds a password.
            raise BadEnvironment(
                f"{name} is no mail server; give one like "
                "smtp+tls://user:password@mail.example:587?from=crewlet@example.com "
                f"({', '.join(MAIL_PORTS)})."
            )
        return MailServer(
            host=parts.hostname,
            port=port or MAIL_PORTS[parts.scheme],
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            security={"smtps": "ssl", "smtp+tls": "tls"}.get(parts.scheme, ""),
            sender=query.get("from", [f"crewlet@{domain}"])[0],
        )

    def words(self, name: str) -> frozenset[str]:
        return frozenset(word.strip() for word in self.text(name).split(",") if word.strip())

    def roles(self, name: str) -> frozenset[str]:
        given = self.words(name)
        unknown = sorted(given - NODE_ROLES)
        if unknown:
            known = ", ".join(sorted(NODE_ROLES))
            raise BadEnvironment(f"{name} names {', '.join(unknown)}; the roles are {known}.")
        return given or NODE_ROLES

    def tokens(self) -> dict[str, str]:
        return {
            key.removeprefix(TOKEN_PREFIX).lower(): value.strip()
            for key, value in sorted(self._environ.items())
            if key.startswith(TOKEN_PREFIX) and key != TOKEN_PREFIX and value.strip()
        }
