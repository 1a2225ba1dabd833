"""Test that staged data is shown completely, or deleted completely."""

import pytest

from functions.container import Container
from functions.platform.table import ConditionFailed
from functions.platform.writes import put
from tests.contract.service import Service

_PARTITION, _MARKER, _ITEM = "acme#s#state", "l#path", ("acme#s#state", "s#1")


def test_a_writer_that_took_too_long_shows_nothing(service: Service) -> None:
    container = Container(service.settings(), service.clock)
    table, staging = container.table, container.staging
    part = put((_PARTITION, "y#path#0000"), {"value": b"large"})
    shown = staging.stage_parts(_PARTITION, "path", [part], service.clock())
    assert not staging.remove((_PARTITION, _MARKER), 0)  # the schedule has begun, and has no time
    with pytest.raises(ConditionFailed):
        table.transact([put(_ITEM, {"value_name": "path"}), *shown])
    assert staging.remove((_PARTITION, _MARKER))
    assert list(table.query(_PARTITION, "")) == []
