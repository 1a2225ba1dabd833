"""`client.runs`: what agents did, turn by turn, for 90 days (ADR-043 Tier 2)."""

from collections.abc import AsyncIterator, Mapping
from typing import Any, cast

from agent_memory._async.resource import AsyncResource
from agent_memory.model import Episode, Run
from agent_memory.requests import drop_none, quote_segment
from agent_memory.responses import get_member, parse_items

_RUNS = "/api/v1/runs"
_EPISODES = "/api/v1/episodes"
_MOST = 1000  # episodes of one answer

Document = dict[str, Any]


class AsyncRuns(AsyncResource):
    """Runs and their episodes, as the service's documents."""

    async def start(
        self,
        agent_type: str,
        *,
        instance_id: str | None = None,
        input: Any = None,  # noqa: A002 - the service's word
        sensitivity: str | None = None,
    ) -> Run:
        """Start a run; its `id` is what episodes are appended to.

        Args:
            agent_type: a label such as `sdr`; episodes are recalled by it.
            instance_id: which instance of the agent it is.
            input: whatever JSON can write, up to 4 MB.
            sensitivity: `confidential` and `restricted` texts are stored encrypted.
        """
        body = drop_none(instance_id=instance_id, input=input, sensitivity=sensitivity)
        answer = await self._call("POST", _RUNS, json={"agent_type": agent_type, **body})
        return cast("Run", answer)

    async def append(
        self,
        run_id: str,
        content: Any,
        *,
        role: str | None = None,
        kind: str | None = None,
        turn: int | None = None,
        metadata: Mapping[str, Any] | None = None,
        sensitivity: str | None = None,
    ) -> Episode:
        """Append an episode to a run, exactly once, even after its end.

        Args:
            run_id: the run.
            content: whatever JSON can write, up to 262,144 bytes.
            role: who or what it comes from.
            kind: what it is, in a word of yours.
            turn: the turn of the run.
            metadata: more, up to 65,536 bytes.
            sensitivity: as for a run.

        Raises:
            MemoryNotFoundError: no run of the last 90 days has this id.
            MemoryCapacityError: the tenant has 100,000 episodes.
        """
        more = drop_none(role=role, kind=kind, turn=turn, sensitivity=sensitivity)
        if metadata is not None:
            more["metadata"] = dict(metadata)
        path = f"{_path(run_id)}/episodes"
        return cast("Episode", await self._call("POST", path, json={"content": content, **more}))

    async def complete(self, run_id: str, output: Any = None) -> Run:
        """End a run that went well.

        Raises:
            MemoryNotFoundError: no run of the last 90 days has this id.
            RunClosedError: it is over.
        """
        path = f"{_path(run_id)}/complete"
        return cast("Run", await self._call("POST", path, json={"output": output}))

    async def fail(self, run_id: str, error: Any = None) -> Run:
        """End a run that didn't; raises as `complete`."""
        path = f"{_path(run_id)}/fail"
        return cast("Run", await self._call("POST", path, json={"error": error}))

    async def get(self, run_id: str) -> Run:
        """Return a run with all its values, in more than one call where they are large.

        Raises:
            MemoryNotFoundError: no run of the last 90 days has this id.
        """
        run = await self._call("GET", _path(run_id))
        for name in run.pop("omitted", ()):
            found = await self._call("GET", _path(run_id), params={"value": name})
            run[name] = found.get(name)
        return cast("Run", run)

    async def query(
        self,
        *,
        agent_type: str | None = None,
        instance_id: str | None = None,
        status: str | None = None,
        values: bool = True,
    ) -> AsyncIterator[Run]:
        """Yield the tenant's runs, newest first, a page at a time as they are asked for.

        Args:
            agent_type, instance_id: only runs that were started with these.
            status: `running`, `completed` or `failed`.
            values: whether to read input, output and error, too.
        """
        asked = drop_none(agent_type=agent_type, instance_id=instance_id, status=status)
        asked |= {"total": "none"} | ({} if values else {"values": "omit"})
        following: Document | None = {}
        while following is not None:
            page = await self._call("GET", _RUNS, params={**asked, **following})
            for run in parse_items(get_member(page, "runs")):
                yield cast("Run", run)
            following = {"after": page["next"]} if "next" in page else None

    async def delete(self, run_id: str) -> bool:
        """Delete a run with its episodes; whether there was one."""
        return await self._delete(_path(run_id))

    async def delete_episode(self, run_id: str, episode_id: str) -> bool:
        """Delete one episode of a run; whether there was one."""
        return await self._delete(f"{_path(run_id)}/episodes/{quote_segment(episode_id)}")

    async def delete_all(
        self,
        *,
        agent_type: str | None = None,
        instance_id: str | None = None,
        status: str | None = None,
    ) -> int:
        """Delete the runs that match, with their episodes; return how many runs there were.

        Raises:
            ValidationError: nothing is given.
        """
        asked = drop_none(agent_type=agent_type, instance_id=instance_id, status=status)
        deleted, is_complete = 0, False
        while not is_complete:
            answer = await self._call("DELETE", _RUNS, params=asked)
            deleted += answer["deleted"]
            is_complete = answer["complete"]
        return deleted

    async def agent_types(self) -> AsyncIterator[str]:
        """Yield the agent types that were used in the last 90 days."""
        async for each in self._list("/api/v1/agent-types", "agent_types"):
            yield each["agent_type"]

    async def recall(self, agent_type: str, last: int = 10) -> list[Episode]:
        """Return the newest `last` episodes of an agent type, across its runs, newest first."""
        asked = {"agent_type": agent_type}
        found: list[Episode] = []
        if last > 0:
            async for episode in self._episodes(asked, min(last, _MOST)):
                found.append(episode)
                if len(found) == last:
                    break
        return found

    async def episodes(self, run_id: str) -> AsyncIterator[Episode]:
        """Yield all episodes of a run, newest first, a page at a time as they are asked for.

        Raises:
            MemoryNotFoundError: no run of the last 90 days has this id.
        """
        async for episode in self._episodes({"run_id": run_id}, _MOST):
            yield episode

    async def _episodes(self, whose: Document, at_once: int) -> AsyncIterator[Episode]:
        following: Document | None = {}
        while following is not None:
            page = await self._call(
                "GET", _EPISODES, params={**whose, **following, "limit": at_once}
            )
            for episode in parse_items(get_member(page, "episodes")):
                yield cast("Episode", episode)
            following = {"before": page["next"]} if "next" in page else None


def _path(run_id: str) -> str:
    return f"{_RUNS}/{quote_segment(run_id)}"
