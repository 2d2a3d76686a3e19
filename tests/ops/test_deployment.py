"""The image, the compose file and the units, run here as the processes that they describe."""

from __future__ import annotations

import re
import shlex
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from redis import Redis
from ruamel.yaml import YAML

from crewlet.environment import BASE_DIR
from crewlet.kernel.queue import DUTY_QUEUE
from crewlet.ops.roster import Role
from tests.support import redis
from tests.support.processes import Process, child_environment, free_port
from tests.support.processes import processes as running_processes
from tests.support.until import until

pytestmark = pytest.mark.timeout(120)
OURS = ("migrate", "web", "worker", "duty", "beat")
UNITS = {name: f"crewlet-{name}.service" for name in ("web", "worker", "duty", "beat")}
HOST, PORT = "0.0.0.0", "8000"  # noqa: S104  # where a container listens


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    """The services of the compose file."""
    loaded: dict[str, Any] = YAML(typ="safe").load((BASE_DIR / "compose.yaml").read_text())
    return dict(loaded["services"])


def dockerfile() -> str:
    """The Dockerfile with its continued lines joined."""
    return (BASE_DIR / "Dockerfile").read_text().replace("\\\n", " ")


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the Dockerfile copies, after the commands that it runs on it."""
    folder = tmp_path_factory.mktemp("image")
    for line in re.findall(r"^COPY (.+)$", dockerfile(), re.M):
        *sources, target = line.split()
        for source in sources:
            place = folder / (source if target == "./" else target)
            if (BASE_DIR / source).is_dir():
                shutil.copytree(
                    BASE_DIR / source, place, ignore=shutil.ignore_patterns("__pycache__")
                )
            else:
                shutil.copy(BASE_DIR / source, place)
    built = re.search(r"SECRET_KEY=(\S+) python (manage\.py collectstatic[^&]*)", dockerfile())
    assert built, "the image is built without its static files"
    subprocess.run(
        [sys.executable, *shlex.split(built[2])],
        cwd=folder, check=True, capture_output=True, timeout=60,
        env={"SECRET_KEY": built[1], **image_environment(folder)},
    )  # fmt: skip
    return folder


def image_environment(folder: Path) -> dict[str, str]:
    """What the Dockerfile sets, with the data folder beside the copy."""
    (setting,) = re.findall(r"^ENV (.+)$", dockerfile(), re.M)
    return dict(part.split("=", 1) for part in setting.split()) | {
        "CREWLET_DATA_DIR": str(folder / "var"),
        "PATH": str(Path(sys.executable).parent),
    }


@pytest.fixture
def start(image: Path, tmp_path: Path, transactional_db: None) -> Iterator[Any]:
    """Starts a service of ours as compose would, on this test's database and Redis.

    What a process commits is emptied after it has ended, not taken back with a transaction.
    """
    with running_processes(tmp_path) as started:

        def run(name: str, service: dict[str, Any], **environment: str) -> Process:
            argv = [sys.executable, *service["command"][1:]]
            assert service["command"][0] == "python"
            given = {
                key: value for key, value in service["environment"].items() if "${" not in value
            }
            log = tmp_path / f"{name}.log"
            with log.open("wb") as output:
                popen = subprocess.Popen(
                    argv, cwd=image, stdin=subprocess.DEVNULL, stdout=output,
                    stderr=subprocess.STDOUT, process_group=0,
                    env={**given, **child_environment(), **image_environment(image),
                         "CREWLET_LOG_FORMAT": "console", **environment},
                )  # fmt: skip
            process = Process(name, popen, log)
            started.running.append(process)
            return process

        yield run


def test_the_dockerfile_passes_its_linter_and_runs_as_nobody_special() -> None:
    linter = Path(sys.executable).parent / "hadolint"
    ran = subprocess.run(
        [str(linter), str(BASE_DIR / "Dockerfile")], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
    users = re.findall(r"^USER (\S+)$", dockerfile(), re.M)
    assert users, "the image runs as root"
    assert users[-1].isdecimal()
    assert users[-1] != "0"


def test_the_image_is_given_every_source_and_nothing_else() -> None:
    copied = {
        source for line in re.findall(r"^COPY (.+)$", dockerfile(), re.M)
        for source in line.split()[:-1]
    }  # fmt: skip
    kept = re.findall(r"^!(\S+)$", (BASE_DIR / ".dockerignore").read_text(), re.M)
    assert copied == set(kept)
    packages = {place.parent.name for place in BASE_DIR.glob("*/apps.py")} | {"crewlet"}
    assert packages <= copied, "an app is missing from the image"


def test_every_service_comes_back_by_itself_and_waits_for_what_it_needs(
    services: dict[str, Any],
) -> None:
    assert set(OURS) <= set(services)
    for name, service in services.items():
        assert service["restart"] == ("no" if name == "migrate" else "unless-stopped"), name
        if name in ("web", "worker", "duty", "beat"):
            assert service["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
    grace = {name: services[name]["stop_grace_period"] for name in ("web", "worker", "duty")}
    assert grace == {"web": "15s", "worker": "15m", "duty": "2m"}
    assert services["web"]["ports"] == [f"127.0.0.1:{PORT}:{PORT}"], "open to the network"


def test_the_units_start_what_the_compose_file_starts(services: dict[str, Any]) -> None:
    for name, unit in UNITS.items():
        text = (BASE_DIR / "deploy" / "systemd" / unit).read_text()
        (line,) = re.findall(r"^ExecStart=(.+)$", text, re.M)
        given = shlex.split(line.replace("--host 127.0.0.1", f"--host {HOST}"))
        assert given[0].endswith("/bin/python")
        assert given[1:] == services[name]["command"][1:], unit
        role = services[name]["environment"].get("CREWLET_NODE_ROLES")
        assert (f"CREWLET_NODE_ROLES={role}" in text) is (role is not None)


def test_web_serves_hashed_files_from_the_image(services: dict[str, Any], start: Any) -> None:
    service = dict(services["web"])
    port = str(free_port())
    service["command"] = [
        {HOST: "127.0.0.1", PORT: port}.get(part, part) for part in service["command"]
    ]
    web = start("web", service)

    def answers() -> bool:
        assert not web.ended, web.output
        try:
            with urlopen(f"http://127.0.0.1:{port}/health", timeout=5) as answer:
                return bool(answer.status == 200)
        except OSError:
            return False

    until(answers, 30, what="web answers")
    with urlopen(f"http://127.0.0.1:{port}/sign-in", timeout=10) as answer:
        page = answer.read().decode()
    sheet = re.search(r'href="(/static/css/app\.[0-9a-f]{12}\.css)"', page)
    assert sheet, page[:600]
    with urlopen(f"http://127.0.0.1:{port}{sheet[1]}", timeout=10) as answer:
        assert "immutable" in answer.headers["Cache-Control"]
        assert "@layer" in answer.read().decode()
    web.terminate()
    assert web.wait() in (0, -signal.SIGTERM)


@pytest.mark.parametrize("name", ["worker", "duty"])
def test_a_worker_of_the_image_starts_and_drains(
    services: dict[str, Any], start: Any, name: str
) -> None:
    worker = start(name, services[name], CREWLET_NODE_ID=f"{name}-1")
    worker.until_it_says(" ready.")
    worker.terminate()
    assert worker.wait() == 0, worker.output


def test_migrate_and_beat_of_the_image_run(services: dict[str, Any], start: Any) -> None:
    migrate = start("migrate", services["migrate"])
    assert migrate.wait(60) == 0, migrate.output
    address = child_environment()["REDIS_URL"]
    redis.flush(address)
    beat = start("beat", services["beat"])
    queue = f"{child_environment().get('CREWLET_REDIS_PREFIX', 'crewlet')}:queue:{DUTY_QUEUE}"
    with Redis.from_url(address, socket_timeout=5) as client:
        until(lambda: client.llen(queue), 30, what=f"beat sends a tick\n{beat.output}")
    beat.terminate()
    beat.wait()


def test_the_role_that_up_starts_is_the_services_command(services: dict[str, Any]) -> None:
    from crewlet.ops import roster

    def said(role: Role) -> list[str]:
        return [Path(part).name if part.endswith("manage.py") else part for part in role.argv[1:]]

    assert said(roster.worker("x")) == services["worker"]["command"][1:]
    assert said(roster.duty_worker("x")) == services["duty"]["command"][1:]
    assert said(roster.beat()) == services["beat"]["command"][1:]
