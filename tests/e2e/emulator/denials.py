"""Each call that IAM refuses goes to a file, one JSON object a line."""

import json
import os
from pathlib import Path
from typing import Any

from ministack.core import iam_actions

_answer = iam_actions.access_denied_response


def _recorded(
    service: str, action: str, principal_arn: str, request_id: str, **details: Any
) -> tuple[Any, ...]:
    denied = {
        "principal": principal_arn,
        "action": action,
        "resource": details.get("resource_arn", "*"),
        "reason": details.get("message", ""),
    }
    with Path(os.environ["DENIALS_FILE"]).open("a") as file:
        file.write(json.dumps(denied) + "\n")
    answer: tuple[Any, ...] = _answer(service, action, principal_arn, request_id, **details)
    return answer


def mend() -> None:
    """Records what is refused; the emulator looks the function up at each call."""
    iam_actions.access_denied_response = _recorded
