"""Test what operations cost in DynamoDB calls and units, exactly (the design's table)."""

from pathlib import Path

import pytest

from benchmarks import costs, prices, trace
from functions.local import engine


def test_no_operation_costs_more_than_it_may() -> None:
    if engine.find_binary(Path(__file__).parents[2]) is None:
        pytest.skip("the embedded engine, which counts units right, has no build here")
    measured = costs.measure()
    assert len(measured) >= 10
    assert [each for each in measured if each.above] == []
    priced = prices.price_operations({each.operation: each for each in measured})
    met = {each.operation.name for each in priced if each.is_met}
    assert met == {each.name for each in prices.OPERATIONS if each.goal is not None}
    assert prices.price_agent_month(priced) <= prices.AGENT_MONTH_GOAL


def test_a_change_passes_few_functions_and_an_end_makes_few_calls() -> None:
    traces = changed, _, ended = trace.measure()
    for each in traces:
        assert len(each.functions) <= each.most_functions, each.flow
        assert len(each.files) <= each.most_files, each.flow
    assert changed.dynamodb_calls == 1
    assert ended.dynamodb_calls <= trace.MOST_END_CALLS
