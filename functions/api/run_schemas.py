"""What answers about runs and episodes look like (contract §8)."""

from functions.api.documents import Document
from functions.api.schema_words import (
    COUNT,
    STRING,
    TIME,
    VERSION,
    array_of,
    maybe,
    object_of,
    one_of,
    page_of,
    ref,
)
from functions.runs.model import RunStatus, Sensitivity

RUNS: dict[str, Document] = {
    "Run": object_of(
        id=STRING | {"pattern": "^run_"},
        agent_type=STRING,
        instance_id=maybe(STRING),
        status=one_of(RunStatus),
        input={},
        output={},
        error={},
        sensitivity=maybe(one_of(Sensitivity)),
        version=VERSION,
        created_at=TIME,
        created_by=STRING,
        ended_at=maybe(TIME),
        ended_by=maybe(STRING),
        expires_at=TIME,
    ),
    "RunPage": page_of("runs", "Run"),
    "Episode": object_of(
        {
            "agent_type": STRING,
            "role": STRING,
            "kind": STRING,
            "turn": COUNT,
            "metadata": {"type": "object"},
        },
        id=STRING | {"pattern": "^epi_"},
        run_id=STRING | {"pattern": "^run_"},
        content={},
        sensitivity=maybe(one_of(Sensitivity)),
        created_at=TIME,
        created_by=STRING,
        expires_at=TIME,
    ),
    "EpisodePage": object_of({"next": STRING}, episodes=array_of(ref("Episode")), limit=VERSION),
}
"""By name, for the OpenAPI document."""
