"""What Lambda tells a handler about the invocation."""

import time
from dataclasses import dataclass, field

_TIMEOUT = 30.0  # seconds: an HTTP API waits no longer


@dataclass(frozen=True, slots=True)
class LocalContext:
    """The attributes of Lambda's context object that handlers and Powertools read."""

    aws_request_id: str
    function_name: str = "agent-memory-api"
    function_version: str = "$LATEST"
    invoked_function_arn: str = "arn:aws:lambda:local:000000000000:function:agent-memory-api"
    memory_limit_in_mb: int = 1024
    log_group_name: str = "/aws/lambda/agent-memory-api"
    log_stream_name: str = "local"
    _deadline: float = field(default_factory=lambda: time.monotonic() + _TIMEOUT)

    def get_remaining_time_in_millis(self) -> int:
        """How long the invocation may still take."""
        return max(0, int((self._deadline - time.monotonic()) * 1000))
