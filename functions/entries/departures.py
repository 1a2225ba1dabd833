"""What goes when an agent's episodic memory is over its capacity (RFC-0015 §2.2)."""

from collections.abc import Collection
from functools import partial

from functions.entries.store import EntryStore
from functions.entries.writes import Transition
from functions.platform.keys import Key
from functions.platform.parallel import side_by_side


def departures(
    store: EntryStore,
    tenant: str,
    agent: str,
    now: int,
    wanted: int,
    most_expired: int,
    staying: Collection[Key] = (),
) -> tuple[Transition, ...]:
    """The removals that make room for `wanted` entries, as far as there are any.

    What has expired goes before anything is evicted, up to `most_expired` of it; what stands at
    one of the places `staying` doesn't go.
    """
    expired, victims = side_by_side(
        (
            partial(store.expired_of_agent, tenant, agent, now),
            partial(store.victims, tenant, agent, wanted + len(staying)),
        )
    )
    gone = [e for e in expired if e.tier == "episodic" and e.place not in staying][:most_expired]
    places = {entry.place for entry in gone} | set(staying)
    evicted = [entry for entry in victims if entry.place not in places]
    return (
        *(Transition(entry, None, reason="expired") for entry in gone),
        *(
            Transition(entry, None, reason="evicted")
            for entry in evicted[: max(wanted - len(gone), 0)]
        ),
    )
