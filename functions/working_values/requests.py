"""Bodies of requests about working values (ADR-043)."""

from typing import Any

from functions.platform.validation import RequestModel


class NewWorkingValue(RequestModel):
    """Body of `PUT /api/v1/instances/{instance_id}/working/{key}`."""

    value: Any
    """Any JSON."""
