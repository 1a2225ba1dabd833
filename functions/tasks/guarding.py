"""Use cases on coordinators' guardrails: read them, change them (RFC-0015 §6.6; contract §5)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from functions.identity.model import Principal
from functions.platform.clock import Clock
from functions.platform.errors import VersionMismatch
from functions.platform.idempotency import RequestToken
from functions.platform.retry import Backoff
from functions.platform.table import ConditionFailed
from functions.tasks.governance import Governance
from functions.tasks.guardrails import CoordinatorGuardrails

if TYPE_CHECKING:
    from functions.tasks.requests import Guardrails


class Guarding:
    """The guardrails of a caller's tenant's coordinators."""

    def __init__(self, governance: Governance, clock: Clock) -> None:
        self._governance = governance
        self._clock = clock

    def get(self, caller: Principal, coordinator: str) -> CoordinatorGuardrails:
        """A coordinator's guardrails; none, at version 0, where nobody has set any."""
        return self._governance.of(caller.tenant, coordinator)

    def change(
        self,
        caller: Principal,
        coordinator: str,
        asked: Guardrails,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        """Changes guardrails; when it returns, they hold for every open task and assignee.

        Raises:
            VersionMismatch: `version` is given and isn't the present one.
        """
        standing = self._replaced(caller, coordinator, asked, version, token)
        self._governance.carry_out(caller.tenant, coordinator)
        return standing

    def _replaced(
        self,
        caller: Principal,
        coordinator: str,
        asked: Guardrails,
        version: int | None,
        token: RequestToken,
    ) -> CoordinatorGuardrails:
        backoff = Backoff("others are changing these guardrails")
        while True:
            present = self._governance.of(caller.tenant, coordinator)
            if token.wrote(present.request):
                return present
            if version not in (None, present.version):
                raise VersionMismatch(
                    f"the guardrails are at version {present.version}; read them and try again",
                    version=present.version,
                )
            given = asked.model_dump(exclude_unset=True)
            new = CoordinatorGuardrails(
                coordinator=coordinator,
                guardrails=replace(present.guardrails, **given),
                version=present.version + 1,
                updated=self._clock(),
                request=token.stored,
            )
            try:
                self._governance.replace(caller.tenant, new)
                return new
            except ConditionFailed:
                backoff.wait()
