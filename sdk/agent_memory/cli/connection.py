"""Choose the server and the key of the commands."""

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

import httpx

from agent_memory import Client
from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.profiles import DEFAULT, Profile, profile_file, read_profiles
from agent_memory.exceptions import InvalidAnswerError
from agent_memory.settings import KEY, LOCAL_URL, URL, find_local_service

_KEY = re.compile(r"[\x21-\x7e]{1,512}")


def select_profile(name: str | None, environment: Mapping[str, str]) -> Profile:
    """Return the named profile, else the environment's, else the one called `default`.

    Without all of them, it is the local service of the current folder. An empty variable counts
    as unset.

    A key is only sent to the server that it was stored or set with. A key of the environment
    without an address is sent to the default address.

    Raises:
        UsageFailure: there is none, or it is invalid.
    """
    if name is None and (api_key := environment.get(KEY)):
        return check_profile(environment.get(URL) or LOCAL_URL, api_key)
    if name is None and environment.get(URL):
        raise UsageFailure(f"{URL} is set without {KEY}; set both, or name a --profile")
    file = profile_file(environment)
    found = read_profiles(file).get(name or DEFAULT)
    if found is None and name is None and (local := find_local_service(environment)):
        return check_profile(*local)
    if found is None:
        raise UsageFailure(_render_missing(name))
    return check_profile(found.url, found.api_key)


def _render_missing(name: str | None) -> str:
    if name is None:
        return f"there is no key: set {URL} and {KEY}, or run: agent-memory login URL"
    return f"there is no profile {name!r}; agent-memory profiles lists them"


def check_profile(url: str, api_key: str) -> Profile:
    """Return a profile with a well-formed URL and key.

    Raises:
        UsageFailure: raised when the URL or the key is malformed.
    """
    if not _KEY.fullmatch(api_key):
        raise UsageFailure("the API key is not valid: a key consists of visible ASCII characters")
    return Profile(check_url(url), api_key)


def check_url(url: str) -> str:
    """Return a server's URL without a slash at its end.

    Raises:
        UsageFailure: it is no http or https URL, or has more than a server and a path.
    """
    try:
        parts = urlsplit(url)
        right = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        right = False
    if not right or not _KEY.fullmatch(url):
        raise UsageFailure(
            "the server's URL is not valid; it must look like https://memory.example.com"
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise UsageFailure("the server's URL may have only a server and a path")
    return url.rstrip("/")


def connect(profile: Profile, timeout: float) -> Client:
    """Return a client of the profile's server."""
    return Client(profile.url, profile.api_key, timeout=timeout)


def parse_document(answer: httpx.Response, *names: str) -> dict[str, Any]:
    """Return the object of a response, which has at least these members.

    Raises:
        InvalidAnswerError: the response is something else.
    """
    document = answer.json() if answer.content else None
    if not isinstance(document, dict) or not document.keys() >= set(names):
        raise InvalidAnswerError(
            "the response is not from the memory service; check the URL, and proxies in between",
            status=answer.status_code,
        )
    return document
