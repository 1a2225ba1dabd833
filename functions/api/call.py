"""A request as the routes see it, and their answers."""

import base64
import binascii
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

import orjson

from functions.container import Container
from functions.identity.model import Principal
from functions.platform.errors import BodyTooLarge, PreconditionRequired, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.limits import MAX_BODY_BYTES, MAX_IDEMPOTENCY_KEY_CHARACTERS

_VERSION = re.compile(r'"(\d{1,18})"|(\d{1,18})', re.ASCII)
_IDEMPOTENCY_KEY = re.compile(rf"[\x21-\x7e]{{1,{MAX_IDEMPOTENCY_KEY_CHARACTERS}}}")


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, headers and JSON body of an answer."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)


def json_answer(status: int, document: Any, **headers: str) -> Answer:
    """An answer with a JSON body; header names are given with underscores."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, orjson.dumps(document), {"content-type": "application/json"} | named)


class Call:
    """One request to one route."""

    def __init__(
        self, event: dict[str, Any], names: dict[str, str], services: Container, path: str
    ) -> None:
        self._event = event
        self._path = path
        self.names = names
        self.services = services
        self.headers: dict[str, str] = event.get("headers") or {}

    def name(self, parameter: str, most: int) -> str:
        """A name from the path.

        Raises:
            ValidationFailed: it has more than `most` characters.
        """
        name = self.names[parameter]
        if len(name) > most:
            raise ValidationFailed(parameter, f"has 1 to {most} characters")
        return name

    @cached_property
    def body(self) -> bytes:
        """The raw body.

        Raises:
            BodyTooLarge: over 5 MB.
        """
        text: str = self._event.get("body") or ""
        if self._event.get("isBase64Encoded"):
            try:
                body = base64.b64decode(text)
            except binascii.Error as error:
                raise ValidationFailed("body", "isn't readable") from error
        else:
            body = text.encode(errors="surrogatepass")
        if len(body) > MAX_BODY_BYTES:
            raise BodyTooLarge(
                "the request body is too large", max=MAX_BODY_BYTES, actual=len(body)
            )
        return body

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The query parameters, each with all its values."""
        raw = self._event.get("rawQueryString") or ""
        parameters: dict[str, list[str]] = {}
        try:
            for name, value in parse_qsl(raw, keep_blank_values=True, errors="strict"):
                parameters.setdefault(name, []).append(value)
        except (UnicodeDecodeError, ValueError) as error:
            raise ValidationFailed("query", "isn't readable as UTF-8") from error
        return parameters

    def token(
        self, caller: Principal, digest: Callable[[bytes], bytes] | None = None
    ) -> RequestToken:
        """The token of this write, of the request's digest if its body may hold secrets.

        Raises:
            ValidationFailed: the Idempotency-Key isn't 1-255 visible ASCII characters.
        """
        key = self.idempotency_key
        if key is None:
            return RequestToken.fresh()
        method = self._event["requestContext"]["http"]["method"]
        request = b"\n".join((f"{method} {self._path}".encode(errors="replace"), self.body))
        asked = request if digest is None else digest(request)
        return RequestToken.of(f"{caller.tenant}\n{caller.id}", key, asked)

    @property
    def idempotency_key(self) -> str | None:
        """The Idempotency-Key header."""
        key = self.headers.get("idempotency-key")
        if key is not None and not _IDEMPOTENCY_KEY.fullmatch(key):
            message = f"takes 1-{MAX_IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters"
            raise ValidationFailed("Idempotency-Key", message)
        return key

    @property
    def if_match(self) -> int | None:
        """The version that If-Match names (RFC-0015 §3.2).

        Raises:
            ValidationFailed: anything but `3` or `"3"`.
        """
        header = self.headers.get("if-match")
        if header is None:
            return None
        match = _VERSION.fullmatch(header.strip())
        if match is None:
            raise ValidationFailed("If-Match", 'takes a version, as 3 or "3"')
        return int(match.group(1) or match.group(2))

    @property
    def required_version(self) -> int:
        """The version of an If-Match that must be there.

        Raises:
            PreconditionRequired: it isn't.
        """
        version = self.if_match
        if version is None:
            raise PreconditionRequired("send If-Match with the version that you last read")
        return version
