"""What a password must be, and how it is kept."""

from __future__ import annotations

import pytest

from crewlet.kernel.errors import Invalid
from orgs.people import passwords


@pytest.mark.parametrize(
    "password",
    [
        "short-one11",
        "password1234",
        "P@ssw0rd1234!",
        "PasswordPassword",
        "qwertyuiop12",
        "1234567890123",
        "aaaaaaaaaaaaaaaa",
        "letmein-letmein-2024",
        "crewletcrewlet",
        "ana.silva.1990",
        "Welcome2Crewlet!",
        "x" * 2000,
    ],
)
def test_what_anybody_would_try_first_is_refused(password: str) -> None:
    with pytest.raises(Invalid) as refused:
        passwords.check(password, login="ana.silva", name="Ana Silva")
    assert password not in refused.value.message


@pytest.mark.parametrize(
    "password",
    [
        "four lucid otters climbing",
        "my password is a long story",
        "Tr4vel!ng-by-tram",
        "øystein på fjellet",
        "correct horse battery staples and pins",
    ],
)
def test_a_few_unrelated_words_are_fine(password: str) -> None:
    passwords.check(password, login="ana.silva", name="Ana Silva")


def test_a_password_is_kept_as_argon2id_and_only_it_matches() -> None:
    encoded = passwords.encode("four lucid otters climbing")
    assert encoded.startswith("$argon2id$v=19$m=65536,t=3,p=1$")
    assert passwords.is_encoded(encoded)
    assert not passwords.is_encoded("four lucid otters climbing")
    assert passwords.matches(encoded, "four lucid otters climbing")
    assert not passwords.matches(encoded, "four lucid otters climbinG")


def test_nothing_matches_where_no_password_is_stored() -> None:
    assert not passwords.matches("", "")
    assert not passwords.matches("", "nobody has this password")
    assert not passwords.matches("not a hash", "not a hash")
