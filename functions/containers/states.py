"""States of agents."""

from functools import cached_property

from functions.container import Container
from functions.conversations.state_store import StateStore
from functions.conversations.states import States
from functions.platform.values import ValueCodec


class StateContainer:
    """Makes these services, each at its first use, on those of the common container."""

    def __init__(self, common: Container) -> None:
        self._common = common

    @cached_property
    def state_store(self) -> StateStore:
        common = self._common
        return StateStore(common.table, ValueCodec(common.cipher), common.value_parts)

    @cached_property
    def states(self) -> States:
        return States(self.state_store, self._common.audit, self._common.clock)
