"""The console's one-time sign-in: the printed address opens one session, on this machine."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from functions.local.sign_in import COOKIE, SignIn
from tests.contract.local_server import LocalServer, running

ME = "/api/v1/me"
SAME_ORIGIN = {"Sec-Fetch-Site": "same-origin"}


@pytest.fixture
def server(tmp_path: Path) -> Iterator[LocalServer]:
    with running(tmp_path) as server:
        yield server


def printed(server: LocalServer) -> str:
    found = re.search(r"^ *console +(\S+)$", server.greeting, re.MULTILINE)
    assert found, server.greeting
    return found.group(1)


def browser(server: LocalServer) -> httpx.Client:
    """A client without a key, which keeps cookies."""
    return httpx.Client(base_url=server.address, headers=SAME_ORIGIN)


def test_the_printed_address_signs_in_once(server: LocalServer) -> None:
    with browser(server) as first, browser(server) as second:
        opened = first.get(printed(server))
        assert (opened.status_code, opened.headers["location"]) == (303, "/console")
        assert opened.headers["cache-control"] == "no-store"
        session = next(each for each in opened.headers.get_list("set-cookie") if COOKIE in each)
        assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(session.split("; "))
        assert "Max-Age" not in session
        assert "Expires" not in session
        assert first.get(ME).json()["id"] == "admin"
        assert first.get(ME).status_code == 200  # a reload keeps the session
        again = second.get(printed(server))
        assert again.status_code == 403
        assert "sign in with an API key" in again.text
        assert not again.headers.get_list("set-cookie")
        assert second.get(ME).status_code == 401


def test_a_session_serves_only_the_console_itself(server: LocalServer) -> None:
    with browser(server) as client:
        client.get(printed(server))
        for site in ("cross-site", "same-site", "none"):
            assert client.get(ME, headers={"Sec-Fetch-Site": site}).status_code == 401
        client.headers.pop("Sec-Fetch-Site")
        assert client.get(ME).status_code == 401
        assert client.get(ME, headers=SAME_ORIGIN | {"X-API-Key": "am_wrong"}).status_code == 401


def test_signing_out_ends_the_session(server: LocalServer) -> None:
    with browser(server) as client:
        client.get(printed(server))
        stolen = dict(client.cookies)
        ended = client.post("/console/sign-out")
        assert ended.status_code == 204
        assert "Max-Age=0" in ended.headers["set-cookie"]
        client.cookies.update(stolen)
        assert client.get(ME).status_code == 401


def test_a_code_expires_after_five_minutes_and_names_no_key() -> None:
    now = 0.0
    sign_in = SignIn("am_key", lambda: now)
    assert "am_key" not in sign_in.code
    now = 299.0
    assert SignIn("am_key", lambda: now).redeem("another") is None
    session = sign_in.redeem(sign_in.code)
    assert session
    assert sign_in.find_key(session) == "am_key"
    late = SignIn("am_key", lambda: now)
    now = 600.0
    assert late.redeem(late.code) is None


def test_the_address_is_of_the_console(server: LocalServer) -> None:
    assert printed(server).startswith(f"{server.address}/console?")
    assert urlsplit(printed(server)).fragment == ""


@pytest.mark.parametrize("client", ["192.0.2.7", "::ffff:192.0.2.7"])
def test_other_machines_get_no_session(client: str) -> None:
    sign_in = SignIn("am_key")
    response = sign_in.answer("GET", "/console", f"code={sign_in.code}", [], client)
    assert response is not None
    assert response.status == 403
    assert sign_in.redeem(sign_in.code), "the code is still unused"
