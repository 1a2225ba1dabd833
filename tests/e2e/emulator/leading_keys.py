"""IAM's condition key `dynamodb:LeadingKeys`: the partitions that a request names."""

import json
from typing import Any

from ministack.core import iam_actions

from tests.e2e.emulator.partitions import find_partitions

_context = iam_actions.dynamodb_service_context


def _with_leading_keys(body: bytes) -> dict[str, Any]:
    context: dict[str, Any] = _context(body)
    keys = sorted({key for _table, key in find_partitions(json.loads(body or b"{}"))})
    return context | ({"dynamodb:LeadingKeys": keys} if keys else {})


def mend() -> None:
    """The emulator gives IAM no such key; it looks the function up at each call."""
    iam_actions.dynamodb_service_context = _with_leading_keys
