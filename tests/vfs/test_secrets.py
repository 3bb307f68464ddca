"""Secrets that were used are hidden in what services say."""
from __future__ import annotations

import json

import pytest

from mirage.vfs import secrets
from mirage.vfs.secrets import Secret, hide, remember
from mirage.vfs.service import Failure, service_error


@pytest.fixture(autouse=True)
def forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(secrets, "_known", {})


def test_a_secret_is_hidden_once_it_was_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "xoxb-0123456789-abcdef")
    secret = Secret("env:A_TOKEN")
    assert hide("Bearer xoxb-0123456789-abcdef") == "Bearer xoxb-0123456789-abcdef"
    assert secret.reveal() == "xoxb-0123456789-abcdef"
    assert hide("Bearer xoxb-0123456789-abcdef, twice: xoxb-0123456789-abcdef.") == "Bearer ***, twice: ***."


@pytest.mark.parametrize("text, hidden", [
    ("cut: xoxb-0123456789-ab", "cut: ***"), ("cut: xoxb-0123456 (401)", "cut: *** (401)"), ("cut: xoxb-01", "cut: xoxb-01"),
    ("xoxb-0123456789-abcdefghi", "***ghi"), ("", ""), ("***", "***"),
])
def test_parts_of_one(text: str, hidden: str) -> None:
    remember("xoxb-0123456789-abcdef")
    assert hide(text) == hidden


def test_what_is_inside_of_a_secret() -> None:
    remember("postgresql://ada:p%40ssword1@db.example/shop")
    remember(json.dumps({"client_secret": "c-secret-1", "refresh_token": "r-token-22", "token_uri": "https://oauth.example"}))
    assert hide("no password p@ssword1 or p%40ssword1 for ada at db.example") == "no password *** or *** for ada at db.example"
    assert hide("c-secret-1 r-token-22 https://oauth.example") == "*** *** https://oauth.example"
    remember("no")
    assert hide("nothing") == "nothing"


def test_errors_of_services() -> None:
    remember("secret-token-7")
    assert Failure(401, "bad token secret-token-7").message == "bad token ***"
    assert service_error(13, "desk: secret-token-7").note == "desk: ***"


def test_not_for_ever() -> None:
    for i in range(secrets.KEPT + 50):
        remember(f"secret-number-{i:05}")
    assert len(secrets._known) <= secrets.KEPT and hide(f"secret-number-{secrets.KEPT + 49:05}") == "***"
