"""A budget for the monthly cost of the memory's resources."""

from aws_cdk import aws_budgets as budgets
from constructs import Construct

from .settings import Settings

_WARNINGS = (("ACTUAL", 80), ("FORECASTED", 100))  # percent of the budget


class Budget(Construct):
    """Sends a mail at 80 % of the budget, and when the month is expected to exceed it.

    It counts resources with the tag `memory`, once that is a cost allocation tag of the account.
    """

    def __init__(self, scope: Construct, id: str, settings: Settings) -> None:
        super().__init__(scope, id)
        property_of = budgets.CfnBudget
        subscriber = property_of.SubscriberProperty(
            address=settings.budget_email or "", subscription_type="EMAIL"
        )
        budgets.CfnBudget(
            self,
            "Budget",
            budget=property_of.BudgetDataProperty(
                budget_type="COST",
                time_unit="MONTHLY",
                budget_limit=property_of.SpendProperty(
                    amount=settings.monthly_budget_usd or 0, unit="USD"
                ),
                cost_filters={"TagKeyValue": [f"user:memory${settings.name}"]},
            ),
            notifications_with_subscribers=[
                property_of.NotificationWithSubscribersProperty(
                    notification=property_of.NotificationProperty(
                        comparison_operator="GREATER_THAN",
                        notification_type=kind,
                        threshold=percent,
                        threshold_type="PERCENTAGE",
                    ),
                    subscribers=[subscriber],
                )
                for kind, percent in _WARNINGS
            ],
        )
