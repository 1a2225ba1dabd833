"""Each type of item that becomes due has a job."""

import pytest

from functions.container import Container
from functions.platform import item_types
from functions.platform.schema import BY_DUE
from functions.platform.settings import ScheduleSettings
from functions.schedule.handler import build_jobs

ENTRIES = {item_types.PRIVATE_ENTRY, item_types.SEMANTIC_ENTRY}  # removed in groups


def test_each_type_of_due_items_has_a_job(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")
    settings = ScheduleSettings(memory_table="memory", log_table="log", encryption_key_id="key")
    container = Container(settings)
    due = {each for each in item_types.ITEM_TYPES if BY_DUE in each.indexes}
    assert build_jobs(container).keys() == due - ENTRIES
