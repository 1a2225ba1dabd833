"""Bodies of requests about instances' working memory (ADR-043, contract §8)."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class NewWorkingValue(BaseModel):
    """Body of `PUT /api/v1/instances/{instance_id}/working/{key}`."""

    model_config = ConfigDict(extra="forbid", strict=True)

    value: Any
