"""Use cases of strategies: set, read, delete, and show their results; budgets of tenants."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from functions.audit.service import AuditTrail
from functions.authorization.rules import Action, authorize
from functions.identity.model import Principal
from functions.learning import rules
from functions.learning.authority import CHANGE_STRATEGY, DELETE_STRATEGY
from functions.learning.model import Budget, Strategy, StrategyStatus, Usage
from functions.learning.requests import NewStrategy
from functions.learning.store import LearningStore
from functions.platform.bounded_pages import WantedPage
from functions.platform.clock import Clock, parse_milliseconds, to_rfc3339
from functions.platform.errors import CapacityExceeded, NotFound, ValidationFailed, VersionMismatch
from functions.platform.limits import MAX_ANSWER_TOKENS, MAX_STRATEGIES, MIN_ANSWER_TOKENS
from functions.platform.retry import retry_on
from functions.platform.table import ConditionFailed
from functions.platform.writes import Write
from functions.usage.model import TenantLimits

_BUSY = "others are changing this strategy"
_SHOWN = ("version", "kind", "namespace", "model", "enabled")


@dataclass(eq=False)
class Budgets:
    """The daily budgets of tenants (UTC), and their usage."""

    _store: LearningStore
    _limit: Usage
    _get_limits: Callable[[str], TenantLimits]
    _clock: Clock

    def read(self, tenant: str) -> Budget:
        """Read a tenant's budget of this day, and the operator's token limit: two reads."""
        day, own = to_rfc3339(self._clock())[:10], self._get_limits(tenant).model_tokens_per_day
        tokens = self._limit.tokens  # 0 is no limit
        if own is not None:
            tokens = max(min(own, tokens or own), 1)
        limit = self._limit._replace(tokens=tokens)
        return Budget(day, self._store.get_usage(tenant, day), limit)


def find_room(budget: Budget, tokens: int) -> int | None:
    """Compute the maximum number of tokens of an answer; None if the budget is used up."""
    used, limit = budget.used, budget.limit
    if limit.requests and used.requests >= limit.requests:
        return None
    if not limit.tokens:
        return MAX_ANSWER_TOKENS
    room = limit.tokens - used.tokens - tokens
    return None if room < MIN_ANSWER_TOKENS else min(room, MAX_ANSWER_TOKENS)


@dataclass(eq=False)
class Strategies:
    """The strategies of a caller's tenant.

    Methods raise `NotFound` if the tenant has no such strategy.
    """

    _store: LearningStore
    _budgets: Budgets
    _models: Sequence[str]
    _audit: AuditTrail
    _clock: Clock

    @retry_on(ConditionFailed, _BUSY)
    def put(
        self, caller: Principal, name: str, new: NewStrategy, version: int | None
    ) -> tuple[Strategy, bool]:
        """Set a strategy; return it, and whether it is new. Repeating it changes nothing.

        Raises:
            ValidationFailed: the trigger or the model is not allowed.
            CapacityExceeded: the tenant has 20 strategies.
            NotFound: If-Match names a version, and the strategy does not exist.
            VersionMismatch: If-Match names another version than the present one.
        """
        authorize(caller, CHANGE_STRATEGY, None)
        present = self._find(caller.tenant, name, version)
        after = self._build(caller, name, new, present)
        if present is None:
            self._assert_room(caller.tenant)
        elif after == present._replace(updated_at=after.updated_at, version=after.version):
            return present, False
        record = self._record(caller, CHANGE_STRATEGY, name, present, after)
        self._store.put_strategy(caller.tenant, present, after, record)
        return after, present is None

    def _build(
        self, caller: Principal, name: str, new: NewStrategy, present: Strategy | None
    ) -> Strategy:
        now = self._clock()
        if self._models and rules.choose_model(self._models, new.model) is None:
            raise ValidationFailed("model", f"must be one of {', '.join(self._models)}")
        return Strategy(
            name=name,
            kind=new.kind,
            instructions=new.instructions,
            namespace=new.namespace,
            model=new.model,
            messages=new.trigger.messages,
            idle=new.trigger.idle,
            idle_ms=parse_milliseconds(new.trigger.idle, "trigger.idle"),
            enabled=new.enabled,
            version=1 if present is None else present.version + 1,
            created_at=now if present is None else present.created_at,
            updated_at=now,
            created_by=caller.id if present is None else present.created_by,
        )

    def _assert_room(self, tenant: str) -> None:
        count = len(self._store.list_strategies(tenant))
        if count >= MAX_STRATEGIES:
            remedy = "delete one that you do not need"
            raise CapacityExceeded("strategies", count, MAX_STRATEGIES, remedy)

    def get(self, caller: Principal, name: str) -> Strategy:
        """Get one strategy: one read."""
        found = self._store.get_strategy(caller.tenant, name)
        if found is None:
            raise NotFound("there is no such strategy")
        return found

    def list_all(self, caller: Principal, wanted: WantedPage) -> list[Strategy]:
        """List strategies by their names: one call."""
        found, after = self._store.list_strategies(caller.tenant), wanted.after
        return [each for each in found if after is None or each.name > after]

    @retry_on(ConditionFailed, _BUSY)
    def delete(self, caller: Principal, name: str, version: int | None) -> None:
        """Delete a strategy. What it has learned stays.

        Raises:
            VersionMismatch: If-Match names another version than the present one.
        """
        authorize(caller, DELETE_STRATEGY, None)
        present = self._find(caller.tenant, name, version)
        if present is None:
            raise NotFound("there is no such strategy")
        record = self._record(caller, DELETE_STRATEGY, name, present, None)
        self._store.delete_strategy(caller.tenant, present, record)

    def get_status(self, caller: Principal, name: str) -> StrategyStatus:
        """Read the results of a strategy, and count what waits: four calls."""
        strategy = self.get(caller, name)
        return StrategyStatus(
            strategy,
            rules.choose_model(self._models, strategy.model),
            self._store.count_waiting(caller.tenant, name),
            self._store.get_counts(caller.tenant, name),
            self._budgets.read(caller.tenant),
        )

    def _find(self, tenant: str, name: str, version: int | None) -> Strategy | None:
        found = self._store.get_strategy(tenant, name)
        if found is None and version:
            raise NotFound("there is no such strategy")
        if found is not None and version not in (None, found.version):
            raise VersionMismatch.of("the strategy", found.version)
        return found

    def _record(
        self,
        caller: Principal,
        action: Action[None],
        name: str,
        before: Strategy | None,
        after: Strategy | None,
    ) -> Write:
        """Build the audit record of a change, without the instructions: they may quote memory."""
        shown = [_show(each) for each in (before, after)]
        return self._audit.record(caller, action, f"strategy:{name}", *shown)


def _show(strategy: Strategy | None) -> dict[str, Any] | None:
    if strategy is None:
        return None
    return {name: getattr(strategy, name) for name in _SHOWN}
