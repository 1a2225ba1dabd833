"""Field types that several rooms' bodies share (contract §3, §4)."""

from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from functions.platform.clock import from_rfc3339
from functions.platform.limits import MAX_ID_CHARACTERS, MAX_NAME_CHARACTERS, MAX_TTL_CHARACTERS


def _moment(value: object) -> int:
    if not isinstance(value, str):
        raise ValueError("use an RFC 3339 date-time such as 2026-02-08T10:00:00Z")
    return from_rfc3339(value)


Moment = Annotated[
    int, BeforeValidator(_moment), WithJsonSchema({"type": "string", "format": "date-time"})
]
"""An RFC 3339 date-time on the wire, epoch milliseconds inside."""

AgentId = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_CHARACTERS)]
Tag = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
Identifier = Annotated[str, Field(min_length=1, max_length=MAX_ID_CHARACTERS)]
"""A task's or an intent's id."""

TTL_PATTERN = "^(task_lifetime|duration:P.*)$"
Ttl = Annotated[
    str,
    Field(max_length=MAX_TTL_CHARACTERS),
    WithJsonSchema({"type": "string", "maxLength": MAX_TTL_CHARACTERS, "pattern": TTL_PATTERN}),
]
"""How long something is kept; the service parses it and names what is wrong with it."""
