"""Explanations of who may do what."""

from functools import cached_property

from functions.access.service import AccessExplanations
from functions.containers import FurtherContainer
from functions.containers.conversations import ConversationContainer


class AccessContainer(FurtherContainer):
    """Makes what explains access."""

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
