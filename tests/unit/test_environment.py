"""One typed reader of the environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from crewlet import environment
from crewlet.environment import BadEnvironment, broker_url, read, run_dir


def test_an_empty_environment_is_an_embedded_install(tmp_path: Path) -> None:
    env = read({}, base_dir=tmp_path)
    assert env.data_dir == tmp_path / "var"
    assert env.embedded_database
    assert env.embedded_redis
    assert env.secret_key == ""
    assert env.roles == {"seats", "duties"}
    assert (env.lease_ttl, env.heartbeat, env.sweep_seconds) == (45, 15, 5)
    assert env.idle_transaction_seconds == 45 / 4
    assert env.max_concurrent == 32
    assert env.node_id


def test_the_sealing_key_comes_from_its_file_unless_the_environment_has_one(tmp_path: Path) -> None:
    (tmp_path / "secret.key").write_text("from-the-file\n", encoding="utf-8")
    data = {"CREWLET_DATA_DIR": str(tmp_path)}
    assert read(data).secret_key == "from-the-file"
    assert read({**data, "SECRET_KEY": "given"}).secret_key == "given"


def test_no_secret_shows_when_the_environment_is_printed(tmp_path: Path) -> None:
    shown = repr(
        read(
            {
                "CREWLET_DATA_DIR": str(tmp_path),
                "SECRET_KEY": "hush-1",
                "ANTHROPIC_API_KEY": "hush-2",
                "OPENAI_API_KEY": "hush-3",
                "CREWLET_API_TOKEN_CI": "hush-4",
            }
        )
    )
    assert "hush" not in shown


def test_tokens_are_named_by_what_follows_the_prefix() -> None:
    env = read({"CREWLET_API_TOKEN_CI": "abc", "CREWLET_API_TOKEN_EMPTY": " "})
    assert env.api_tokens == {"ci": "abc"}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("CREWLET_LEASE_TTL", "soon", "CREWLET_LEASE_TTL is 'soon'; give a number, such as 45."),
        ("CREWLET_LEASE_TTL", "0.2", "give 1 or more"),
        ("CREWLET_LEASE_TTL", "nan", "give 1 or more"),
        ("CREWLET_MAX_CONCURRENT", "0", "a whole number, 1 or more"),
        ("CREWLET_NODE_ROLES", "seats,cook", "names cook; the roles are duties, seats"),
        ("CREWLET_NODE_ID", "a b", "letters, digits"),
        ("CREWLET_LOG_FORMAT", "xml", "one of console, json"),
        ("CREWLET_PUBLIC_URL", "crewlet.example", "an address like https://"),
    ],
)
def test_a_bad_value_is_named_with_its_remedy(name: str, value: str, words: str) -> None:
    with pytest.raises(BadEnvironment) as caught:
        read({name: value})
    assert name in str(caught.value)
    assert words in str(caught.value)


def test_the_public_address_is_an_allowed_host() -> None:
    env = read({"CREWLET_PUBLIC_URL": "https://crew.example/", "CREWLET_ALLOWED_HOSTS": "a.b, c.d"})
    assert env.public_url == "https://crew.example"
    assert {"crew.example", "a.b", "c.d", "localhost"} <= set(env.allowed_hosts)


@pytest.mark.parametrize(
    ("redis", "kombu"),
    [
        ("redis://h:6379/2", "redis://h:6379/2"),
        ("unix:///run/valkey.sock?db=3", "redis+socket:///run/valkey.sock?virtual_host=3"),
        ("unix:///run/valkey.sock", "redis+socket:///run/valkey.sock?virtual_host=0"),
    ],
)
def test_the_broker_reads_the_same_address_in_its_own_spelling(redis: str, kombu: str) -> None:
    assert broker_url(redis) == kombu


def test_sockets_lie_in_the_data_folder_unless_the_path_is_too_long(tmp_path: Path) -> None:
    assert run_dir(Path("/srv/crewlet")) == Path("/srv/crewlet/run")
    deep = tmp_path / ("d" * 90)
    assert len(str(run_dir(deep))) <= environment.LONGEST_SOCKET_FOLDER
    assert run_dir(deep) == run_dir(deep)
    assert run_dir(deep) != run_dir(deep / "other")


@pytest.mark.covers("ORG-44")
def test_writers_of_the_company_are_a_list_with_commas(tmp_path: Path) -> None:
    assert read({}, base_dir=tmp_path).company_writers == frozenset()
    env = read({"CREWLET_COMPANY_WRITERS": "token:ci, shell,"}, base_dir=tmp_path)
    assert env.company_writers == {"token:ci", "shell"}


@pytest.mark.covers("PEER-35")
def test_a_mail_server_is_one_address_with_its_security_in_the_scheme(tmp_path: Path) -> None:
    assert read({}, base_dir=tmp_path).mail is None
    url = "smtp+tls://ana%40x.example:s%2Fcret@mail.example?from=bot@x.example"
    mail = read({"EMAIL_URL": url}, base_dir=tmp_path).mail
    assert mail is not None
    assert (mail.host, mail.port, mail.security) == ("mail.example", 587, "tls")
    assert (mail.user, mail.password, mail.sender) == ("ana@x.example", "s/cret", "bot@x.example")
    assert "s/cret" not in repr(mail)
    plain = read({"EMAIL_URL": "smtps://mail.example"}, base_dir=tmp_path).mail
    assert plain is not None
    assert (plain.port, plain.security, plain.sender) == (465, "ssl", "crewlet@localhost")


@pytest.mark.parametrize(
    "url",
    ["mail.example", "http://mail.example", "smtp://", "smtp://u:hush@h:port", "smtp://h?form=a"],
)
def test_what_is_no_mail_server_is_refused_without_its_password(url: str, tmp_path: Path) -> None:
    with pytest.raises(BadEnvironment, match="EMAIL_URL is no mail server") as refusal:
        read({"EMAIL_URL": url}, base_dir=tmp_path)
    assert "hush" not in str(refusal.value)
