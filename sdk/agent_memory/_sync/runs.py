"""`client.runs`: runs of agents and their episodes (ADR-043 Tier 2)."""

from collections.abc import Mapping
from operator import itemgetter
from typing import Any, Unpack

from agent_memory._sync.pages import Pages
from agent_memory._sync.resource import Resource
from agent_memory.model import Episode, Run, RunStatus, Sensitivity
from agent_memory.page import Paging
from agent_memory.requests import drop_none, quote_segment
from agent_memory.responses import parse

_RUNS = "/api/v1/runs"
_EPISODES = "/api/v1/episodes"
_MOST = 1000  # episodes of one answer

_Episodes = list[Episode]


class Runs(Resource):
    """The runs of the caller's tenant, and their episodes."""

    def start(
        self,
        agent_type: str,
        *,
        instance_id: str | None = None,
        input: Any = None,  # noqa: A002 - the service's word
        sensitivity: Sensitivity | None = None,
    ) -> Run:
        """Start a run; episodes are appended to its `id`.

            run = client.runs.start("sdr", input={"lead": "Acme"})

        Args:
            agent_type: a label such as `sdr`; episodes are recalled by it.
            instance_id: the instance of the agent.
            input: any JSON value.
            sensitivity: `confidential` and `restricted` texts are stored encrypted.
        """
        body = drop_none(instance_id=instance_id, input=input, sensitivity=sensitivity)
        answer = self._call("POST", _RUNS, json={"agent_type": agent_type, **body})
        return parse(Run.from_document, answer)

    def append(
        self,
        run_id: str,
        content: Any,
        *,
        role: str | None = None,
        kind: str | None = None,
        turn: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        sensitivity: Sensitivity | None = None,
    ) -> Episode:
        """Append an episode to a run, exactly once, even after its end.

            client.runs.append(run.id, "wrote to Acme", kind="tool_call", turn=1)

        Args:
            run_id: the run.
            content: any JSON value.
            role: its source, such as `user` or `tool`.
            kind: its type; any word.
            turn: the turn of the run.
            metadata: further data, up to `runs.limits.metadata_bytes`.
            sensitivity: as for a run.

        Raises:
            MemoryNotFoundError: no kept run has this id.
            MemoryCapacityError: the tenant has the maximum number of episodes.
        """
        more = drop_none(role=role, kind=kind, turn=turn, sensitivity=sensitivity)
        if metadata is not None:
            more["metadata"] = dict(metadata)
        path = f"{_path(run_id)}/episodes"
        answer = self._call("POST", path, json={"content": content, **more})
        return parse(Episode.from_document, answer)

    def complete(self, run_id: str, output: Any = None) -> Run:
        """End a run as completed.

            client.runs.complete(run.id, {"replied": True})

        Raises:
            MemoryNotFoundError: no kept run has this id.
            RunClosedError: it has ended.
        """
        path = f"{_path(run_id)}/complete"
        answer = self._call("POST", path, json={"output": output})
        return parse(Run.from_document, answer)

    def fail(self, run_id: str, error: Any = None) -> Run:
        """End a run as failed; raises as `complete`.

        client.runs.fail(run.id, {"reason": "no answer"})
        """
        path = f"{_path(run_id)}/fail"
        answer = self._call("POST", path, json={"error": error})
        return parse(Run.from_document, answer)

    def get(self, run_id: str) -> Run:
        """Return a run with all its values, by several requests if they are large.

            client.runs.get(run.id).output

        Raises:
            MemoryNotFoundError: no kept run has this id.
        """
        run = self._call("GET", _path(run_id))
        for name in run.pop("omitted", ()):
            found = self._call("GET", _path(run_id), params={"value": name})
            run[name] = found.get(name)
        return parse(Run.from_document, run)

    def query(
        self,
        *,
        agent_type: str | None = None,
        instance_id: str | None = None,
        status: RunStatus | None = None,
        values: bool = True,
        **paging: Unpack[Paging],
    ) -> Pages[Run]:
        """Return the tenant's runs, newest first.

            for run in client.runs.query(agent_type="sdr", status="failed"):
                print(run.created_at, run.error)

        Args:
            agent_type, instance_id: only runs that were started with these.
            status: `running`, `completed` or `failed`.
            values: read input, output and error, too.
            paging: `limit`, `page_size`, `after`.
        """
        asked = drop_none(agent_type=agent_type, instance_id=instance_id, status=status)
        asked |= {} if values else {"values": "omit"}
        return self._list(_RUNS, "runs", Run.from_document, paging, asked)

    def delete(self, run_id: str) -> bool:
        """Delete a run with its episodes; return True if it existed.

        client.runs.delete(run.id)
        """
        return self._delete(_path(run_id))

    def delete_episode(self, run_id: str, episode_id: str) -> bool:
        """Delete one episode of a run; return True if it existed.

        client.runs.delete_episode(run.id, episode.id)
        """
        return self._delete(f"{_path(run_id)}/episodes/{quote_segment(episode_id)}")

    def delete_all(
        self,
        *,
        agent_type: str | None = None,
        instance_id: str | None = None,
        status: RunStatus | None = None,
    ) -> int:
        """Delete the runs that match, with their episodes; return the number of runs.

            client.runs.delete_all(instance_id="sdr-1")

        Raises:
            ValidationError: no filter is given.
        """
        asked = drop_none(agent_type=agent_type, instance_id=instance_id, status=status)
        deleted, is_complete = 0, False
        while not is_complete:
            answer = self._call("DELETE", _RUNS, params=asked)
            deleted += answer["deleted"]
            is_complete = answer["complete"]
        return deleted

    def list_agent_types(self, **paging: Unpack[Paging]) -> Pages[str]:
        """Return the agent types of recent runs and facts, and those with workflows.

            client.runs.list_agent_types().list()

        Args:
            paging: `limit`, `page_size`, `after`.
        """
        read = itemgetter("agent_type")
        return self._list("/api/v1/agent-types", "agent_types", read, paging)

    def recall(self, agent_type: str, last: int = 10) -> _Episodes:
        """Return the newest `last` episodes of an agent type, across its runs, newest first.

        [each.content for each in client.runs.recall("sdr")]
        """
        paging: Paging = {"limit": last, "page_size": _MOST}
        asked = {"agent_type": agent_type}
        return self._list(_EPISODES, "episodes", Episode.from_document, paging, asked).list()

    def list_episodes(self, run_id: str, **paging: Unpack[Paging]) -> Pages[Episode]:
        """Return all episodes of a run, newest first.

            for episode in client.runs.list_episodes(run.id):
                print(episode.turn, episode.content)

        Args:
            paging: `limit`, `page_size`, `after`.

        Raises:
            MemoryNotFoundError: raised by the first page when no kept run has this
                id.
        """
        asked = {"run_id": run_id}
        return self._list(_EPISODES, "episodes", Episode.from_document, paging, asked)


def _path(run_id: str) -> str:
    return f"{_RUNS}/{quote_segment(run_id)}"
