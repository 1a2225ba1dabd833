"""The logs of functions and APIs: new ones, or the caller's."""

from collections.abc import Mapping

from aws_cdk import aws_kms as kms
from aws_cdk import aws_logs as logs
from constructs import Construct

from .retention import choose_removal_policy
from .settings import Settings

_RETENTION = {
    7: logs.RetentionDays.ONE_WEEK,
    30: logs.RetentionDays.ONE_MONTH,
    90: logs.RetentionDays.THREE_MONTHS,
    365: logs.RetentionDays.ONE_YEAR,
}


class Logs:
    """The log groups of a memory.

    Args:
        given: log groups of the caller, by the part that writes to them: `Api`, `Stream`,
            `Schedule`, `Embedding`, `TaskEvents`, `PreTraffic`, `Access`, `TokenAccess`.
        destination: receives every line of new log groups.
        key: encrypts new log groups.
    """

    def __init__(
        self,
        settings: Settings,
        given: Mapping[str, logs.ILogGroup],
        destination: logs.ILogSubscriptionDestination | None,
        key: kms.IKey | None,
    ) -> None:
        self._settings = settings
        self._given = given
        self._destination = destination
        self._key = key

    def get(self, scope: Construct, id: str, part: str) -> logs.ILogGroup:
        """Return the given log group of a part, or create one with the configured retention."""
        if part in self._given:
            return self._given[part]
        group = logs.LogGroup(
            scope,
            id,
            retention=_RETENTION[self._settings.log_retention_days],
            encryption_key=self._key,
            removal_policy=choose_removal_policy(self._settings),
        )
        if self._destination is not None:
            logs.SubscriptionFilter(
                scope,
                f"{id}Subscription",
                log_group=group,
                destination=self._destination,
                filter_pattern=logs.FilterPattern.all_events(),
            )
        return group
