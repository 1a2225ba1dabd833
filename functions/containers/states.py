"""States of agents."""

from functions.container import Container
from functions.conversations.state_store import StateStore
from functions.conversations.states import States
from functions.platform.values import ValueCodec


class StateContainer:
    """Makes the service of agents' states."""

    def __init__(self, common: Container) -> None:
        values = ValueCodec(common.cipher)
        self.state_store = StateStore(common.table, values, common.value_parts)
        self.states = States(self.state_store, common.audit, common.clock)
