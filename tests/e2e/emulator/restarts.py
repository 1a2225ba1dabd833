"""Restart a function whose configuration changes, even its description."""

from typing import Any

from ministack.core.lambda_runtime import invalidate_worker
from ministack.services import lambda_svc

_update = lambda_svc._update_config


def _update_and_restart(name: str, data: dict[str, Any]) -> Any:
    answer = _update(name, data)
    invalidate_worker(name, qualifier="$LATEST")
    return answer


def mend() -> None:
    """The processes that run it end."""
    lambda_svc._update_config = _update_and_restart
