"""Bodies of requests about strategies."""

from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from functions.learning.model import DEFAULT_NAMESPACE, StrategyKind
from functions.learning.rules import check_template
from functions.platform import limits
from functions.platform.validation import IsoDuration, Name, RequestModel


class Trigger(RequestModel):
    """The trigger of a reading: either condition is enough."""

    messages: Annotated[int, Field(ge=1, le=limits.MAX_TRIGGER_MESSAGES)] | None = None
    """The conversation has this many new messages."""
    idle: IsoDuration | None = None
    """The last message is this old: an ISO 8601 duration, such as `PT10M`."""

    @model_validator(mode="after")
    def _has_event(self) -> Self:
        if self.messages is None and self.idle is None:
            raise ValueError("must have `messages`, `idle`, or both")
        return self


class NewStrategy(RequestModel):
    """Body of `PUT /api/v1/strategies/{name}`."""

    kind: StrategyKind
    """The kind of what is learned: `facts`, `preferences`, `summary` or `episodes`."""
    instructions: Annotated[str, Field(max_length=limits.MAX_INSTRUCTIONS_CHARACTERS)] = ""
    """Instructions in words. The model receives them with each request."""
    namespace: Annotated[Name, AfterValidator(check_template)] = DEFAULT_NAMESPACE
    """The namespace of entries: a template with `{user_id}`, `{session_id}` and `{agent_id}`."""
    model: Name | None = None
    """A model of the deployment. Null: its first one."""
    trigger: Trigger = Field(
        default_factory=lambda: Trigger(messages=limits.DEFAULT_TRIGGER_MESSAGES, idle="PT10M")
    )
    """The trigger of a reading. Default: {DEFAULT_TRIGGER_MESSAGES} new messages, or 10 minutes
    without a message."""
    enabled: bool = True
    """True if the strategy learns."""
