"""Explanations of who may do what."""

from functions.access.service import AccessExplanations
from functions.container import Container
from functions.containers.conversations import ConversationContainer


class AccessContainer:
    """Makes what explains access."""

    def __init__(self, common: Container) -> None:
        self.access_explanations = AccessExplanations(
            common.entries,
            common.namespaces,
            common.task_access,
            common.get(ConversationContainer).conversations,
            common.identity,
            common.clock,
        )
