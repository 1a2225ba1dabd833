"""States of agents."""

from functools import cached_property

from functions.containers import FurtherContainer
from functions.conversations.state_store import StateStore
from functions.conversations.states import States
from functions.platform.values import ValueCodec


class StateContainer(FurtherContainer):
    """Makes the service of agents' states."""

    @cached_property
    def state_store(self) -> StateStore:
        common = self._common
        return StateStore(common.table, ValueCodec(common.cipher), common.value_parts)

    @cached_property
    def states(self) -> States:
        return States(self.state_store, self._common.audit, self._common.clock)
