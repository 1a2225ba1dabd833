"""Objects of the client."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object with its bytes.

    Attributes:
        data: the bytes.
        version: for `version` of `put` and `delete`.
        content_type: their media type.
        metadata: the stored metadata.
        sensitivity: its sensitivity.
        expires_at: when it expires; None if it doesn't.
    """

    data: bytes
    version: int
    content_type: str
    metadata: dict[str, Any]
    sensitivity: str | None
    expires_at: datetime | None

    @classmethod
    def from_response(cls, response: tuple[bytes, Mapping[str, str]]) -> Self:
        """Read an object from its bytes and the headers that describe it."""
        data, headers = response
        ends = headers.get("X-Object-Expires-At")
        return cls(
            data=data,
            version=int(headers["ETag"].strip('"')),
            content_type=headers["Content-Type"],
            metadata=json.loads(headers["X-Object-Metadata"]),
            sensitivity=headers.get("X-Object-Sensitivity"),
            expires_at=None if ends is None else datetime.fromisoformat(ends),
        )
