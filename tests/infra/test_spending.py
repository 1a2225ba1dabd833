"""Test that a deployment's cost is limited if its operator asks for it."""

import pytest

from tests.infra.conftest import Synthesize
from tests.infra.template import Template

_LIMITED = {
    "max_write_units": "2000",
    "max_read_units": "4000",
    "monthly_budget_usd": "200",
    "budget_email": "ops@example.com",
}


@pytest.fixture(scope="module")
def limited(synthesize: Synthesize) -> Template:
    return synthesize(**_LIMITED)


@pytest.mark.parametrize("table", ["Memory", "Log"])
def test_a_table_serves_no_more_units_than_are_chosen(
    dev: Template, limited: Template, table: str
) -> None:
    found = limited.named("DynamoDB::GlobalTable", f"{table}Table")
    writes = found["WriteOnDemandThroughputSettings"]["MaxWriteRequestUnits"]
    reads = found["Replicas"][0]["ReadOnDemandThroughputSettings"]["MaxReadRequestUnits"]
    assert (writes, reads) == (2000, 4000)
    unlimited = dev.named("DynamoDB::GlobalTable", f"{table}Table")
    assert "OnDemandThroughput" not in str(unlimited)


def test_a_budget_tells_its_reader_before_and_when_it_is_exceeded(
    dev: Template, limited: Template
) -> None:
    budget = limited.one("Budgets::Budget")
    assert budget["Budget"]["BudgetLimit"] == {"Amount": 200, "Unit": "USD"}
    assert budget["Budget"]["CostFilters"] == {"TagKeyValue": ["user:memory$dev"]}
    told = [each["Notification"] for each in budget["NotificationsWithSubscribers"]]
    assert [(each["NotificationType"], each["Threshold"]) for each in told] == [
        ("ACTUAL", 80),
        ("FORECASTED", 100),
    ]
    for each in budget["NotificationsWithSubscribers"]:
        assert each["Subscribers"] == [{"Address": "ops@example.com", "SubscriptionType": "EMAIL"}]
    assert dev.of_type("Budgets::Budget") == {}
