"""Bodies of requests about limits of tenants."""

from typing import Annotated

from pydantic import Field

from functions.platform.validation import ChangeModel, RequestModel

Limit = Annotated[int, Field(ge=0, le=10**15)]


class Limits(ChangeModel):
    """`limits` of a tenant: only the given ones change; null removes one."""

    items: Limit | None = None
    """The maximum number of stored things."""
    bytes: Limit | None = None
    """The maximum number of bytes of their contents."""
    requests_per_second: Limit | None = None
    """The maximum number of requests that an instance of the API function answers."""
    deletions_per_day: Limit | None = None
    """The number of deletions and previews a day after which previews are refused."""
    model_tokens_per_day: Limit | None = None
    """The maximum number of tokens that its strategies use."""


class TenantChange(RequestModel):
    """Body of `PATCH /api/v1/tenants/{id}`."""

    limits: Limits
