"""Runs, their episodes, procedures and working values."""

from functions.container import Container
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


class RunContainer:
    """Makes the services of runs, episodes, procedures and working values."""

    def __init__(self, common: Container) -> None:
        table, parts, audit, clock = common.table, common.value_parts, common.audit, common.clock
        values = ValueCodec(common.cipher)
        self.run_ids = RunIds(common.derive_key)
        self.run_store = RunStore(table, values, parts, self.run_ids)
        self.agent_types = AgentTypes(AgentTypeStore(table), clock)
        self.runs = Runs(self.run_store, self.run_ids, self.agent_types, clock)
        self.run_deletion_store = RunDeletionStore(table, parts)
        self.run_deletions = RunDeletions(self.run_store, self.run_deletion_store, audit, clock)
        self.episodes = Episodes(
            EpisodeStore(table, values),
            self.run_store,
            self.run_deletion_store,
            Quotas(common.quota_store, clock),
            clock,
        )
        self.procedures = Procedures(WorkflowStore(table), clock)
        self.working_values = WorkingValues(WorkingValueStore(table), clock)
