"""AWS Signature Version 4 as DynamoDB's requests need it: `POST /`, no query, a small body."""

import hmac
from functools import lru_cache
from hashlib import sha256
from typing import Any

from botocore.auth import AUTH_TYPE_MAPS, SIGNED_HEADERS_BLACKLIST, SigV4Auth

_NAME = "v4-dynamodb"
_UNSIGNED = frozenset(SIGNED_HEADERS_BLACKLIST)


def choose_signer(signature_version: object, **_: Any) -> str | None:
    """Botocore's event `choose-signer`: ours instead of its own Version 4, else its choice."""
    return _NAME if signature_version == "v4" else None


class _Signer(SigV4Auth):  # type: ignore[misc]
    """The same signature with less work; the headers name the host already."""

    def headers_to_sign(self, request: Any) -> dict[str, str]:
        headers = sorted(request.headers.items())
        return {name: text for name, text in headers if name not in _UNSIGNED}

    def signed_headers(self, headers_to_sign: dict[str, str]) -> str:
        return ";".join(headers_to_sign)

    def canonical_headers(self, headers_to_sign: dict[str, str]) -> str:
        lines = [f"{name}:{' '.join(text.split())}" for name, text in headers_to_sign.items()]
        return "\n".join(lines)

    def canonical_request(self, request: Any) -> str:
        headers = self.headers_to_sign(request)
        body = sha256(request.data).hexdigest()
        signed = self.signed_headers(headers)
        return f"POST\n/\n\n{self.canonical_headers(headers)}\n\n{signed}\n{body}"

    def signature(self, string_to_sign: str, request: Any) -> str:
        day = request.context["timestamp"][:8]
        key = _signing_key(self.credentials.secret_key, day, self._region_name, self._service_name)
        return hmac.digest(key, string_to_sign.encode(), "sha256").hex()


@lru_cache(maxsize=8)
def _signing_key(secret: str, *scope: str) -> bytes:
    """A key that lasts for a day, or as long as the credentials."""
    key = f"AWS4{secret}".encode()
    for each in (*scope, "aws4_request"):
        key = hmac.digest(key, each.encode(), "sha256")
    return key


AUTH_TYPE_MAPS[_NAME] = _Signer
