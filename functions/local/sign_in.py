"""The console's sign-in on this machine: a one-time code opens a session in the browser.

The session is a cookie that scripts can't read. Only requests of the console's own page carry it,
and this module replaces it by the key of the local administrator.
"""

import secrets
import time
from collections.abc import Callable
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from ipaddress import ip_address
from urllib.parse import parse_qs

from functions.local.gateway import GatewayResponse

COOKIE, _MARK = "agent-memory-session", "agent-memory-signed-in"
_SECONDS = 300.0
_CREDENTIALS = {"x-api-key", "authorization"}
_REFUSAL = b"""<!doctype html><html lang="en"><meta charset="utf-8"><title>Agent Memory</title>
<h1>This sign-in link doesn't work</h1>
<p>It works once, within five minutes after the start, and on the machine of the service. Start the
service again, or <a href="/console">sign in with an API key</a>.</p></html>
"""

Headers = list[tuple[str, str]]


class SignIn:
    """The code and the sessions of one server. Safe for use by several threads.

    Args:
        api_key: the key that a session uses.
        clock: returns seconds that never go back.
    """

    def __init__(self, api_key: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._api_key = api_key
        self._clock = clock
        self._deadline = clock() + _SECONDS
        self._unused = [secrets.token_urlsafe(24)]  # a pop is atomic, so one request gets the code
        self._sessions: set[str] = set()
        self.code = self._unused[0]

    def redeem(self, code: str) -> str | None:
        """Return a new session for the code; None if it is wrong, used, or expired."""
        if not compare_digest(code.encode(), self.code.encode()) or self._clock() > self._deadline:
            return None
        try:
            self._unused.pop()
        except IndexError:
            return None
        session = secrets.token_urlsafe(32)
        self._sessions.add(session)
        return session

    def find_key(self, session: str) -> str | None:
        """Return the key of a session; None if there is no such session."""
        return self._api_key if session in self._sessions else None

    def answer(
        self, method: str, path: str, query: str, headers: Headers, client: str
    ) -> GatewayResponse | None:
        """Answer the requests that open and end a session; None for all others."""
        if (method, path) == ("GET", "/console") and (code := parse_qs(query).get("code")):
            session = self.redeem(code[0]) if ip_address(client).is_loopback else None
            return _refuse() if session is None else _open(session)
        if (method, path) == ("POST", "/console/sign-out"):
            self._sessions.discard(_find_session(headers))
            return GatewayResponse(204, [_set_cookie(COOKIE, None), _set_cookie(_MARK, None)], b"")
        return None

    def add_key(self, headers: Headers) -> Headers:
        """Return the headers with the key of the session that the console's page sends."""
        sent = dict(headers)
        is_own = sent.get("sec-fetch-site") == "same-origin" and not _CREDENTIALS & sent.keys()
        key = self.find_key(_find_session(headers)) if is_own else None
        return headers if key is None else [*headers, ("x-api-key", key)]


def _find_session(headers: Headers) -> str:
    try:
        cookies = SimpleCookie("; ".join(value for name, value in headers if name == "cookie"))
    except CookieError:
        return ""
    return cookies[COOKIE].value if COOKIE in cookies else ""


def _open(session: str) -> GatewayResponse:
    """Send the browser to the console, with the session and a mark that scripts can read."""
    cookies = [_set_cookie(COOKIE, session), _set_cookie(_MARK, "yes")]
    page = [(b"location", b"/console"), (b"cache-control", b"no-store")]
    return GatewayResponse(303, [*cookies, *page, (b"referrer-policy", b"no-referrer")], b"")


def _refuse() -> GatewayResponse:
    headers = [(b"content-type", b"text/html; charset=utf-8"), (b"cache-control", b"no-store")]
    return GatewayResponse(403, headers, _REFUSAL)


def _set_cookie(name: str, value: str | None) -> tuple[bytes, bytes]:
    """Set a cookie until the browser closes; None removes it."""
    text = f"{name}={value or ''}; Path=/; SameSite=Strict"
    text += "; HttpOnly" if name == COOKIE else ""
    text += "; Max-Age=0" if value is None else ""
    return b"set-cookie", text.encode()
