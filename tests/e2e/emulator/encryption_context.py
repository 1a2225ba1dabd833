"""IAM's condition keys `kms:EncryptionContext:…`: what a request of the key service is bound to."""

import json
from typing import Any

from ministack.core import iam_actions

_context = iam_actions.request_tag_context


def _with_encryption_context(
    service: str, action: str, body: bytes, *further: Any
) -> dict[str, Any]:
    context: dict[str, Any] = _context(service, action, body, *further)
    if service != "kms":
        return context
    named = json.loads(body or b"{}").get("EncryptionContext", {})
    return context | {f"kms:EncryptionContext:{name}": value for name, value in named.items()}


def mend() -> None:
    """The emulator gives IAM no such key; it looks the function up at each call."""
    iam_actions.request_tag_context = _with_encryption_context
