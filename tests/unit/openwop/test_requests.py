"""Which bodies of runs are well-formed."""

from typing import Any

import pytest

from functions.openwop.requests import NewMemoryRun
from functions.platform.errors import ValidationFailed
from functions.platform.validation import validate


@pytest.mark.parametrize(
    ("body", "is_valid"),
    [
        ({"agent": "planner"}, True),
        ({"memoryRef": "mref_1"}, True),
        ({"memoryRefs": ["mref_1"]}, True),
        ({"agent": "planner", "memoryRef": "mref_1"}, True),
        ({"replayOf": "run_1"}, True),
        ({}, False),
        ({"scope": "s"}, False),
        ({"memoryRef": "mref_1", "memoryRefs": ["mref_1"]}, False),
        ({"replayOf": "run_1", "agent": "planner"}, False),
        ({"replayOf": "run_1", "memoryRef": "mref_1"}, False),
    ],
)
def test_a_run_is_on_a_memory_or_replays_a_run(body: dict[str, Any], is_valid: bool) -> None:
    if is_valid:
        validate(NewMemoryRun, body)
        return
    with pytest.raises(ValidationFailed):
        validate(NewMemoryRun, body)
