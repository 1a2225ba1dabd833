"""Runs, their episodes, procedures and working values."""

from functools import cached_property

from functions.containers import FurtherContainer
from functions.platform.values import ValueCodec
from functions.procedures.service import Procedures
from functions.procedures.store import WorkflowStore
from functions.quotas.service import Quotas
from functions.runs.agent_type_store import AgentTypeStore
from functions.runs.agent_types import AgentTypes
from functions.runs.deletion_store import RunDeletionStore
from functions.runs.deletions import RunDeletions
from functions.runs.episode_store import EpisodeStore
from functions.runs.episodes import Episodes
from functions.runs.rules import RunIds
from functions.runs.service import Runs
from functions.runs.store import RunStore
from functions.working_values.service import WorkingValues
from functions.working_values.store import WorkingValueStore


class RunContainer(FurtherContainer):
    """Makes the services of runs, episodes, procedures and working values."""

    @cached_property
    def run_ids(self) -> RunIds:
        return RunIds(self._common.derive_key)

    @cached_property
    def run_store(self) -> RunStore:
        return RunStore(
            self._common.table,
            ValueCodec(self._common.cipher),
            self._common.value_parts,
            self.run_ids,
        )

    @cached_property
    def runs(self) -> Runs:
        return Runs(self.run_store, self.run_ids, self.agent_types, self._common.clock)

    @cached_property
    def agent_types(self) -> AgentTypes:
        return AgentTypes(AgentTypeStore(self._common.table), self._common.clock)

    @cached_property
    def run_deletion_store(self) -> RunDeletionStore:
        return RunDeletionStore(self._common.table, self._common.value_parts)

    @cached_property
    def run_deletions(self) -> RunDeletions:
        return RunDeletions(
            self.run_store, self.run_deletion_store, self._common.audit, self._common.clock
        )

    @cached_property
    def episodes(self) -> Episodes:
        return Episodes(
            EpisodeStore(self._common.table, ValueCodec(self._common.cipher)),
            self.run_store,
            self.run_deletion_store,
            Quotas(self._common.quota_store, self._common.clock),
            self._common.clock,
        )

    @cached_property
    def procedures(self) -> Procedures:
        return Procedures(WorkflowStore(self._common.table), self._common.clock)

    @cached_property
    def working_values(self) -> WorkingValues:
        return WorkingValues(WorkingValueStore(self._common.table), self._common.clock)
