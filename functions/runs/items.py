"""How runs and episodes look as items."""

from functions.platform.idempotency import RequestToken
from functions.platform.items import Item
from functions.platform.keys import decode_timestamp
from functions.platform.run_keys import (
    RunAddress,
    build_episode_id,
    build_episode_key,
    build_episodes_partition_of_hash,
    build_runs_partition,
    parse_episode_id,
)
from functions.platform.schema import TTL_ATTRIBUTE, TYPE_ATTRIBUTE, TYPE_ORDER_ATTRIBUTE
from functions.platform.values import ValueCodec, compress
from functions.platform.writes import Write, put
from functions.runs.model import ENCRYPTED, Episode, Run, Sensitivity
from functions.runs.rules import ttl

ABSENT = "attribute_not_exists(pk)"
_VERSION = 1  # no text is ever replaced


class RunItems:
    """Turns runs and episodes into items and back. Sensitive ones are sealed."""

    def __init__(self, values: ValueCodec) -> None:
        self._values = values

    def run(self, address: RunAddress, run: Run) -> Item:
        """A run's attributes; the index by type has the small ones."""
        tenant, place = address.tenant, address.partition

        def text(part: str, value: bytes) -> Item | None:
            if value == b"null":
                return None
            return self._stored(value, tenant, f"{place}#{part}", run.sensitivity)

        return {
            "run": run.id,
            "agent_type": run.agent_type,
            "instance": run.instance,
            "status": run.status,
            "version": run.version,
            "created": run.created,
            "author": run.author,
            "ended": run.ended,
            "ender": run.ender,
            "sens": run.sensitivity,
            "input": text("input", run.input),
            "output": text("output", run.output),
            "error": text("error", run.error),
            "req": run.request,
            "end_req": run.end_request,
            TYPE_ATTRIBUTE: build_runs_partition(tenant, run.agent_type),
            TYPE_ORDER_ATTRIBUTE: address.sort_token,
            TTL_ATTRIBUTE: ttl(run.created),
        }

    def run_of(self, tenant: str, item: Item) -> Run:
        """The run of an item."""

        def text(part: str) -> bytes:
            stored = item.get(part)
            if stored is None:
                return b"null"
            return self._values.decode(stored, tenant, f"{item['pk']}#{part}")

        return Run(
            id=item["run"],
            agent_type=item["agent_type"],
            instance=item.get("instance"),
            status=item["status"],
            version=item["version"],
            created=item["created"],
            author=item["author"],
            input=text("input"),
            output=text("output"),
            error=text("error"),
            ended=item.get("ended"),
            ender=item.get("ender"),
            sensitivity=item.get("sens"),
            request=item.get("req"),
            end_request=item.get("end_req"),
        )

    def episode(
        self, address: RunAddress, episode: Episode, request: bytes, token: RequestToken | None
    ) -> Write:
        """Puts an episode into the place of its request, unless something stands there."""
        key = build_episode_key(address, request)
        text = self._stored(episode.text, address.tenant, "#".join(key), episode.sensitivity)
        item = text | {
            "run": episode.run,
            "author": episode.author,
            "sens": episode.sensitivity,
            "req": None if token is None else token.stored,
            TYPE_ATTRIBUTE: build_episodes_partition_of_hash(address.tenant, address.type),
            TYPE_ORDER_ATTRIBUTE: parse_episode_id(episode.id),
            TTL_ATTRIBUTE: ttl(episode.created),
        }
        return put(key, item, ABSENT)

    def episode_of(self, tenant: str, item: Item) -> Episode:
        """The episode of an item, be it the table's or the index's."""
        at: str = item[TYPE_ORDER_ATTRIBUTE]
        return Episode(
            id=build_episode_id(at),
            run=item["run"],
            text=self._values.decode(item, tenant, f"{item['pk']}#{item['sk']}"),
            created=decode_timestamp(at),
            author=item["author"],
            sensitivity=item.get("sens"),
        )

    def _stored(
        self, text: bytes, tenant: str, bound: str, sensitivity: Sensitivity | None
    ) -> Item:
        if sensitivity in ENCRYPTED:
            return self._values.encrypt(text, tenant, bound, _VERSION)
        return {"val": compress(text)}
