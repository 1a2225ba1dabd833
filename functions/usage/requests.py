"""Bodies of requests about limits of tenants."""

from typing import Annotated

from pydantic import Field

from functions.platform.validation import ChangeModel, RequestModel

Limit = Annotated[int, Field(ge=0, le=10**15)]


class Limits(ChangeModel):
    """`limits` of a tenant: only the given ones change; null removes one."""

    items: Limit | None = None
    """How many things it may store."""
    bytes: Limit | None = None
    """How many bytes their contents may have."""
    requests_per_second: Limit | None = None
    """How many requests an instance of the API function answers."""
    deletions_per_day: Limit | None = None
    """After how many deletions and previews a day no more previews are made."""
    model_tokens_per_day: Limit | None = None
    """How many tokens its strategies may use."""


class TenantChange(RequestModel):
    """Body of `PATCH /api/v1/tenants/{id}`."""

    limits: Limits
