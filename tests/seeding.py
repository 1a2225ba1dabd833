"""Build the items of many entries, which are stored past the service."""

from collections.abc import Iterator, Sequence
from itertools import starmap

from benchmarks.workload import value
from functions.entries.mapper import EntryMapper
from functions.entries.model import Entry
from functions.entries.tiers import POLICIES, Tier
from functions.entries.transaction_store import build_index_rows
from functions.platform import keys
from functions.platform.json_text import dumps_checked
from functions.platform.limits import MAX_VALUE_BYTES
from functions.platform.writes import Write, put

_NAMESPACE = "invoice_processing"


def build_entry_puts(
    tenant: str,
    owner: str,
    tier: Tier,
    numbers: range,
    tags: Sequence[str],
    newest: int,
) -> Iterator[Write]:
    """Build the puts of an entry of 1 KB for each number, the last one newest, and its index rows.

    Counters are not changed: what they limit isn't measured by who calls this.

    Args:
        tenant: whose entries they are.
        owner: the agent that owns or wrote them.
        tier: of the entries.
        numbers: what distinguishes their keys from others'.
        tags: of each of them.
        newest: when the last one was created, in epoch ms; each other one a ms before its next.
    """
    mapper, start = EntryMapper(None), newest - numbers.stop + 1
    for each in numbers:
        entry = _build_entry(tenant, owner, tier, each, tags, start + each)
        yield put(entry.item_key, mapper.to_item(entry))
        yield from starmap(put, build_index_rows(entry).items())


def _build_entry(
    tenant: str, owner: str, tier: Tier, number: int, tags: Sequence[str], created: int
) -> Entry:
    key, policy = f"filling-{number}", POLICIES[tier]
    text = dumps_checked(value(len(key)), "value", MAX_VALUE_BYTES, "")
    return Entry(
        address=policy.build_address(tenant, owner, _NAMESPACE, key),
        nonce=keys.create_nonce(created),
        memory_type=tier,
        agent_id=owner,
        namespace=_NAMESPACE,
        key=key,
        value=text,
        value_bytes=len(text),
        version=1,
        created_at=created,
        updated_at=created,
        last_accessed_at=created,
        created_by=owner,
        curated_by=None if policy.is_private else owner,
        tags=tuple(tags),
    )
