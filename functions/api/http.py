"""HTTP requests and responses for the routes."""

import base64
import binascii
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from urllib.parse import parse_qsl

import orjson
from pydantic import ValidationError

from functions.container import Container
from functions.identity.model import Principal
from functions.platform import limits
from functions.platform.errors import BodyTooLarge, PreconditionRequired, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.json_text import BEYOND_DOUBLE, count_containers, find_large_number
from functions.platform.validation import Model, build_validation_error, list_problems

_VERSION = re.compile(r'("?)(0|[1-9][0-9]{0,17})\1')
_IDEMPOTENCY_KEY = re.compile(rf"[\x21-\x7e]{{1,{limits.MAX_IDEMPOTENCY_KEY_CHARACTERS}}}")


@dataclass(frozen=True, slots=True)
class Response:
    """Status, headers and body of a response; `is_binary`: the body isn't UTF-8."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    is_binary: bool = False


def json_response(
    status: int,
    document: Mapping[str, Any] | list[Any],
    version: int | None = None,
    /,
    **headers: str,
) -> Response:
    """Build a response with a JSON body; names of headers are given with underscores.

    Args:
        version: the document's, for its ETag.
    """
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if version is not None:
        named["etag"] = f'"{version}"'
    return Response(status, orjson.dumps(document), {"content-type": "application/json"} | named)


def stored_response(
    document: Mapping[str, Any], version: int, location: str, *, is_new: bool
) -> Response:
    """Build the response to a create or change: 201 with Location, or 200."""
    if is_new:
        return json_response(201, document, version, location=location)
    return json_response(200, document, version)


@dataclass(eq=False)
class Request:
    """One request to one route.

    Attributes:
        headers: by lower-case name.
        path: decoded.
        path_params: the path's parameters by name.
    """

    event: dict[str, Any]
    headers: Mapping[str, str]
    path: str
    path_params: dict[str, str]
    services: Container

    def path_param(self, name: str, max_length: int = limits.MAX_ID_CHARACTERS) -> str:
        """Return a parameter of the path."""
        value = self.path_params[name]
        if len(value) > max_length:
            raise ValidationFailed(name, f"must have 1 to {max_length} characters")
        return value

    @cached_property
    def body(self) -> bytes:
        """The raw body."""
        text: str = self.event.get("body") or ""
        if self.event.get("isBase64Encoded"):
            try:
                body = base64.b64decode(text)
            except binascii.Error as error:
                raise ValidationFailed("body", "must be valid base64") from error
        else:
            body = text.encode(errors="surrogatepass")
        if len(body) > limits.MAX_BODY_BYTES:
            raise BodyTooLarge(
                "the request body is too large", max=limits.MAX_BODY_BYTES, actual=len(body)
            )
        return body

    def parse_body(self, model: type[Model]) -> Model:
        """Parse the JSON body into a request model; no body is one without fields."""
        if (containers := count_containers(self.body)) > limits.MAX_BODY_CONTAINERS:
            raise BodyTooLarge(
                "the request body has too many arrays and objects; send it in parts",
                max=limits.MAX_BODY_CONTAINERS,
                actual=containers,
            )
        try:
            parsed = model.model_validate_json(self.body or b"{}")
        except ValidationError as error:
            if self.headers.get("content-encoding", "identity") != "identity":
                problem = "is not accepted; send the body as plain JSON"
                raise ValidationFailed("Content-Encoding", problem) from error
            raise build_validation_error(list_problems(error, model)) from error
        beyond = find_large_number(self.body)
        if beyond is not None:
            raise ValidationFailed(beyond, BEYOND_DOUBLE)
        return parsed

    @cached_property
    def query(self) -> dict[str, list[str]]:
        """The query parameters, each with all its values."""
        raw = self.event.get("rawQueryString") or ""
        parameters: dict[str, list[str]] = {}
        try:
            for name, value in parse_qsl(raw, keep_blank_values=True, errors="strict"):
                parameters.setdefault(name, []).append(value)
        except (UnicodeDecodeError, ValueError) as error:
            raise ValidationFailed("query", "must be UTF-8") from error
        return parameters

    def check_query(self, known: frozenset[str]) -> None:
        """Check that all query parameters have a known name."""
        unknown = sorted(self.query.keys() - known)
        if unknown:
            problems = [(name, "is not a parameter of this operation") for name in unknown]
            raise ValidationFailed(*problems[0], *problems[1:])

    def idempotency_token(self, caller: Principal) -> RequestToken:
        """Create the token of this write; without an Idempotency-Key, it is random."""
        return self.optional_idempotency_token(caller) or RequestToken.create()

    def claim_idempotency_key(self, caller: Principal) -> RequestToken | None:
        """Create the token of this write, and record for a day the use of its Idempotency-Key.

        It is for requests whose body determines the item; it costs a write unit.

        Returns:
            The token; None without an Idempotency-Key.
        """
        token = self.optional_idempotency_token(caller)
        if token is not None:
            self.services.used_requests.claim(caller.tenant, token)
        return token

    def optional_idempotency_token(
        self, caller: Principal, *described: object
    ) -> RequestToken | None:
        """Create the token of this write; None without an Idempotency-Key.

        Args:
            described: what headers say of the body.
        """
        key = self.headers.get("idempotency-key")
        if key is None:
            return None
        if not _IDEMPOTENCY_KEY.fullmatch(key):
            message = (
                f"must have 1 to {limits.MAX_IDEMPOTENCY_KEY_CHARACTERS} visible ASCII characters"
            )
            raise ValidationFailed("Idempotency-Key", message)
        method = self.event["requestContext"]["http"]["method"]
        target = " ".join(map(str, (method, self.path, *described)))
        content = b"\n".join((target.encode(errors="replace"), self.body))
        identity = f"{caller.tenant}\n{caller.id}"
        return RequestToken.from_key(self.services.digests, identity, key, content)

    @property
    def if_match(self) -> int | None:
        """The version in If-Match (RFC-0015 §3.2)."""
        header = self.headers.get("if-match")
        if header is None:
            return None
        match = _VERSION.fullmatch(header.strip())
        if match is None:
            raise ValidationFailed("If-Match", 'must be a version, such as 3 or "3"')
        return int(match[2])

    def resolve(self, url: str) -> str:
        """Complete a URL that may be a path, with the host of the request."""
        if not url.startswith("/"):
            return url
        scheme = self.headers.get("x-forwarded-proto", "http")
        return f"{scheme}://{self.headers.get('host', 'localhost')}{url}"

    @property
    def is_head(self) -> bool:
        """Tell whether the request is a HEAD."""
        method: str = self.event["requestContext"]["http"]["method"]
        return method == "HEAD"

    def has_version(self, version: int) -> bool:
        """Tell whether If-None-Match of a read names a version (RFC 9110 §13.1.2)."""
        header = self.headers.get("if-none-match")
        if header is None:
            return False
        given = {tag.strip().removeprefix("W/") for tag in header.split(",")}
        return not given.isdisjoint({"*", f'"{version}"', str(version)})

    @property
    def must_not_exist(self) -> bool:
        """Tell whether `If-None-Match: *` permits only a create."""
        header = self.headers.get("if-none-match")
        if header not in (None, "*"):
            raise ValidationFailed("If-None-Match", "must be *")
        return header is not None

    @property
    def replaceable_version(self) -> int | None:
        """The version that a PUT replaces: None for any, 0 for none (`If-None-Match: *`)."""
        version = self.if_match
        if not self.must_not_exist:
            return version
        if version is not None:
            raise ValidationFailed("If-None-Match", "can't be combined with If-Match")
        return 0

    @property
    def required_if_match(self) -> int:
        """The version in If-Match, which must be sent."""
        version = self.if_match
        if version is None:
            raise PreconditionRequired("send If-Match with the version that you last read")
        return version
