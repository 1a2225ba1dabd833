"""A deletion ends with a pass that found nothing, and that nothing could be late for."""

from collections import Counter

import pytest

from functions.deletions.model import (
    SETTLING_TIME,
    Deletion,
    Subject,
    continue_after,
    count_found,
    is_waiting,
)
from functions.deletions.ownership import (
    DELETED,
    DELETED_LAST,
    PERMISSIONS,
    REDACTED,
    is_deleted,
)
from functions.identity.model import OPERATOR
from functions.platform.entry_keys import build_private_address, build_semantic_address
from functions.platform.item_types import CLIENT_VECTOR, CLIENT_VECTOR_LENGTH, ITEM_TYPES
from tests.unit.deletions.kept_types import KEPT

_BEGUN = Deletion(Subject("acme", "tenant"), 1_000, OPERATOR, pass_began_at=1_000)


def _end_pass(deletion: Deletion, now: int, found: int = 0) -> Deletion:
    deletion = count_found(deletion, Counter({"entry": found} if found else {}))
    passes = deletion.passes
    while deletion.passes == passes:
        deletion = continue_after(deletion, None, now)
    return deletion


def test_a_pass_goes_through_keys_tables_and_files() -> None:
    stages, deletion = [_BEGUN.stage], _BEGUN
    for after in (None, ("p", "s"), None, None):
        deletion = continue_after(deletion, after, 1_000)
        stages.append(deletion.stage)
    assert stages == ["keys", "memory", "memory", "log", "files"]


def test_the_second_pass_waits_until_nothing_can_be_late() -> None:
    second = _end_pass(_BEGUN, 2_000)
    assert not second.is_done
    assert is_waiting(second, 1_000 + SETTLING_TIME - 1)
    assert not is_waiting(second, 1_000 + SETTLING_TIME)


@pytest.mark.parametrize(("found", "is_done"), [(0, True), (3, False)])
def test_only_a_pass_that_found_nothing_is_the_last(found: int, is_done: bool) -> None:
    second = _end_pass(_BEGUN, 2_000)
    assert _end_pass(second, 500_000, found).is_done is is_done


def test_a_preview_is_one_pass() -> None:
    done = _end_pass(_BEGUN._replace(dry_run=True), 2_000, 3)
    assert (done.is_done, done.counts) == (True, {"entry": 3})


def test_each_type_of_item_is_deleted_redacted_or_kept_for_a_reason() -> None:
    redacted = REDACTED.keys() | PERMISSIONS.keys()
    decided = DELETED.keys() | DELETED_LAST.keys() | redacted | KEPT.keys()
    assert {each.name for each in ITEM_TYPES if each not in decided} == set()
    assert {each.name for each in KEPT if each in DELETED or each in redacted} == set()


def test_the_vectors_of_private_entries_go_with_their_agent() -> None:
    for address, is_own in (
        (build_private_address("acme", "ada", "notes", "k"), True),
        (build_private_address("acme", "ad", "notes", "k"), False),
        (build_private_address("other", "ada", "notes", "k"), False),
        (build_semantic_address("acme", "ada", "k"), False),
    ):
        item = {"pk": address.client_vectors}
        for each in (CLIENT_VECTOR, CLIENT_VECTOR_LENGTH):
            assert is_deleted(each, Subject("acme", "agent", "ada"), item, is_last=False) is is_own
