"""How runs and episodes look to callers (contract §8)."""

from typing import Any

import orjson

from functions.api.documents import Document
from functions.platform.clock import to_rfc3339
from functions.runs.model import Episode, Run
from functions.runs.rules import expires


def run_document(run: Run) -> Document:
    """A run; its texts are spliced in as they were stored."""
    return {
        "id": run.id,
        "agent_type": run.agent_type,
        "instance_id": run.instance,
        "status": run.status,
        "input": orjson.Fragment(run.input),
        "output": orjson.Fragment(run.output),
        "error": orjson.Fragment(run.error),
        "sensitivity": run.sensitivity,
        "version": run.version,
        "created_at": to_rfc3339(run.created),
        "created_by": run.author,
        "ended_at": None if run.ended is None else to_rfc3339(run.ended),
        "ended_by": run.ender,
        "expires_at": to_rfc3339(expires(run.created)),
    }


def episode_document(episode: Episode, agent_type: str | None = None) -> Any:
    """An episode; an append, which doesn't read its run, can't tell the agent type."""
    known = {
        "id": episode.id,
        "run_id": episode.run,
        **({} if agent_type is None else {"agent_type": agent_type}),
        "sensitivity": episode.sensitivity,
        "created_at": to_rfc3339(episode.created),
        "created_by": episode.author,
        "expires_at": to_rfc3339(expires(episode.created)),
    }
    return orjson.Fragment(orjson.dumps(known)[:-1] + b"," + episode.text[1:])
