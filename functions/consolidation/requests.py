"""Bodies of requests about consolidations."""

from typing import Annotated

from pydantic import Field

from functions.consolidation.rules import DEFAULT_RULES
from functions.platform.validation import IsoDuration, RequestModel


class NewConsolidation(RequestModel):
    """Body of `POST /api/v1/consolidation`."""

    dry_run: bool = False
    """Report the changes without making them."""


class ConsolidationSettings(RequestModel):
    """Body of `PUT /api/v1/consolidation/settings`. Omitted fields get their defaults."""

    every: IsoDuration | None = DEFAULT_RULES.every
    """The time between two consolidations: an ISO 8601 duration of an hour or more. Null: only on
    request."""
    decay_after: IsoDuration | None = DEFAULT_RULES.decay_after
    """The time after which a fact that was neither learned nor recalled is weakened. Null:
    never."""
    end_below: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False, strict=False)] = (
        DEFAULT_RULES.end_below
    )
    """A weakened fact ends if its confidence is below this value."""
