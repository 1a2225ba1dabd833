"""Define which items belong to an agent or a person, by the type of item; pure.

Each type of item is here once: deleted with its owner, or redacted. For the types that stay, a test
has the reason, and fails for a missing type.
"""

from collections.abc import Callable

from functions.deletions.model import Subject
from functions.namespaces.rules import find_owner, find_person
from functions.objects.rules import is_about
from functions.platform import item_types
from functions.platform.item_types import ItemType
from functions.platform.items import Item
from functions.platform.keys import hash_agent, hash_name
from functions.platform.schema import GROUP_ATTRIBUTE

NOBODY = "[deleted]"
"""Replaces an id in the data of others."""
Matches = Callable[[Subject, Item], bool]


def _is_named_by(*attributes: str) -> Matches:
    return lambda subject, item: any(item.get(each) == subject.name for each in attributes)


def _is_in(*attributes: str) -> Matches:
    return lambda subject, item: any(subject.name in item.get(each, ()) for each in attributes)


def _is_at(type: ItemType, name: str) -> Matches:
    build = type.build_partition
    return lambda subject, item: item["pk"] == build(subject.tenant, **{name: subject.id})


_is_in_agent_partition = _is_at(item_types.AGENT, "agent")


def _is_in_client_vectors(subject: Subject, item: Item) -> bool:
    names = {"owner": hash_agent(subject.id), "namespace": ""}
    partition: str = item["pk"]
    return partition.startswith(item_types.CLIENT_VECTOR.build_partition(subject.tenant, **names))


def _ends_with_hash(subject: Subject, item: Item) -> bool:
    sort: str = item["sk"]
    return sort.endswith(f"#{hash_agent(subject.id)}")


def _is_in_list_of_user(subject: Subject, item: Item) -> bool:
    is_own = _is_at(item_types.LISTED_COUNT, "user")
    return is_own(subject, item) or _ends_with_hash(subject, item)


def _is_on_access_list(subject: Subject, item: Item) -> bool:
    return f"p{hash_agent(subject.id)}" in item.get("acl", {})


def _is_persons_fact(subject: Subject, item: Item) -> bool:
    return subject.kind == "person" and subject.name in (item.get("user_id"), item.get("subject"))


def _may_be_in_log(subject: Subject, item: Item) -> bool:
    """Tell whether an item may have the subject's events: its log is an agent's or an intent's."""
    is_intent = item["pk"].startswith(f"{subject.tenant}#i#")
    return _is_in_agent_partition(subject, item) or is_intent


def _is_about_person(subject: Subject, item: Item) -> bool:
    return subject.kind == "person" and hash_name("person", subject.id) in item.get("about", ())


def _is_in_own_list(subject: Subject, item: Item) -> bool:
    owner = {"owner_kind": "principal", "owner": subject.id}
    group = item_types.MEMORY.build_group(subject.tenant, **owner)
    return item.get(GROUP_ATTRIBUTE) == group


def _is_in_own_namespace(subject: Subject, item: Item) -> bool:
    name = item["namespace"]
    return find_owner(name) == subject.id or _is_named_after_person(subject, item)


def _is_named_after_person(subject: Subject, item: Item) -> bool:
    return subject.kind == "person" and find_person(item["namespace"]) == subject.id


def _is_persons_object(subject: Subject, item: Item) -> bool:
    if item["owner"] == subject.name:
        return True
    space, key = item.get("space"), item_types.OBJECT.parse(item["sk"])
    return subject.kind == "person" and is_about(subject.id, space or item["namespace"], key)


def _is_in_own_history(subject: Subject, item: Item) -> bool:
    if item["memory_type"] == "semantic":
        return _is_in_own_namespace(subject, item)
    owner = hash_agent(subject.id)
    partition: str = item["pk"]
    return partition == item_types.ENTRY_VERSION.build_partition(subject.tenant, owner=owner)


DELETED: dict[ItemType, Matches] = {
    item_types.PRIVATE_ENTRY: _is_in_agent_partition,
    item_types.SEMANTIC_ENTRY: _is_in_own_namespace,
    item_types.ENTRY_VERSION: _is_in_own_history,
    item_types.AGENT_VECTOR: _is_at(item_types.AGENT_VECTOR, "agent"),
    item_types.CLIENT_VECTOR: _is_in_client_vectors,
    item_types.CLIENT_VECTOR_LENGTH: _is_in_client_vectors,
    item_types.FACT: _is_persons_fact,
    item_types.FACT_CHAIN: _is_persons_fact,
    item_types.CONSOLIDATION_STEP: _is_about_person,
    item_types.CONVERSATION: _is_named_by("user_id"),
    item_types.ARCHIVE: _is_named_by("user_id"),
    item_types.STATE: _is_named_by("agent_id", "owner_id"),
    item_types.OBJECT: _is_persons_object,
    item_types.RUN: _is_named_by("created_by"),
    item_types.EPISODE: _is_named_by("created_by"),
    item_types.MEMORY_ENTRY: _is_named_by("put_by"),
    item_types.MEMORY_RUN: _is_named_by("started_by"),
    item_types.GRANT: _ends_with_hash,
    item_types.PARTICIPANT: _ends_with_hash,
    item_types.FORMER_MEMBER: _ends_with_hash,
    item_types.LISTED_COUNT: _is_in_list_of_user,
    item_types.LEARNING_POSITION: _is_named_by("user_id"),
    item_types.LEARNED_ITEM: _is_named_by("user_id"),
    item_types.STATE_OWNER: _is_named_by("agent_id", "owner_id"),
}
"""The items that are deleted, with the rules that recognize them."""
DELETED_LAST: dict[ItemType, Matches] = {
    item_types.AGENT: _is_in_agent_partition,
    item_types.OBJECT_SPACE: _is_persons_object,
    item_types.NAMESPACE: _is_named_after_person,
}
"""Counters and permissions of deleted items; the last passes delete them."""
REDACTED: dict[ItemType, Matches] = {
    item_types.INTENT: _is_on_access_list,
    item_types.CONVERSATION: _is_in("agent_participants", "shared_with"),
    item_types.ARCHIVE: _is_in("agent_participants", "shared_with"),
    item_types.LOG_ITEM: _may_be_in_log,
    item_types.MEMORY: _is_in_own_list,
}
"""Items of others, from which the subject is removed."""
PERMISSIONS: dict[ItemType, Matches] = dict.fromkeys(
    (item_types.NAMESPACE, item_types.PREFIX_RULE, item_types.OBJECT_SPACE), _is_in("allow")
)
"""Permissions of the subject. The request removes the subject from them."""


def is_deleted(item_type: ItemType, subject: Subject, item: Item, *, is_last: bool) -> bool:
    """Tell whether an item is deleted with its owner; counters only in the last passes."""
    matches = DELETED.get(item_type) or (DELETED_LAST.get(item_type) if is_last else None)
    return matches is not None and matches(subject, item)


def is_permitted(item_type: ItemType, subject: Subject, item: Item) -> bool:
    """Tell whether an item that stays has a permission of the subject."""
    matches = PERMISSIONS.get(item_type)
    may_stay = item_type is item_types.NAMESPACE
    stays = may_stay or not is_deleted(item_type, subject, item, is_last=True)
    return stays and matches is not None and matches(subject, item)


def is_redacted(item_type: ItemType, subject: Subject, item: Item) -> bool:
    """Tell whether an item of others names the subject."""
    matches = REDACTED.get(item_type)
    return matches is not None and matches(subject, item)
