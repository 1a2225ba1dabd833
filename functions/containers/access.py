"""Explanations of who may do what."""

from functools import cached_property

from functions.access.service import AccessExplanations
from functions.container import Container
from functions.containers.conversations import ConversationContainer


class AccessContainer:
    """Makes these services, each at its first use, on those of the common container."""

    def __init__(self, common: Container) -> None:
        self._common = common

    @cached_property
    def access_explanations(self) -> AccessExplanations:
        return AccessExplanations(
            self._common.entries,
            self._common.namespaces,
            self._common.task_access,
            self._common.get(ConversationContainer).conversations,
            self._common.identity,
            self._common.clock,
        )
