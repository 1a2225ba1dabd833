"""RFC-0015 §3: ETag, If-None-Match and If-Match."""

import pytest

from tests.contract.bodies import (
    MEMORY,
    TASKS,
    create,
    create_task,
    entry,
    read,
    update,
)
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant

CACHED = [
    ('"2"', 304),
    ('W/"2"', 304),
    ("*", 304),
    ('"1", "2"', 304),
    ("2", 304),
    ('"1"', 200),
    ('"12"', 200),
    ('"1", "3"', 200),
]


def test_get_honours_if_none_match(tenant: Tenant, subtests: pytest.Subtests) -> None:
    entry_id = create(tenant.admin, entry())["id"]
    ok(update(tenant.admin, entry_id, 1, value={}))
    for header, status in CACHED:
        with subtests.test(header):
            answer = tenant.admin.get(f"{MEMORY}/{entry_id}", headers={"If-None-Match": header})
            assert answer.status_code == status
            assert bool(answer.content) == (status == 200)
            assert answer.headers["ETag"] == '"2"'


def test_a_change_needs_an_if_match_that_is_a_version(tenant: Tenant) -> None:
    made, registered = create(tenant.admin, entry()), create_task(tenant.admin)
    for path, body in (
        (f"{MEMORY}/{made['id']}", {"value": {}}),
        (f"{TASKS}/{registered['id']}", {"name": "x"}),
    ):
        refused(tenant.admin.patch(path, json=body), 428, "PRECONDITION_REQUIRED")
        for form in ("*", "٣"):
            raw = {b"If-Match": form.encode()}
            invalid(tenant.admin.patch(path, json=body, headers=raw), "If-Match")
            invalid(tenant.admin.delete(f"{MEMORY}/{made['id']}", headers=raw), "If-Match")
    assert ok(read(tenant.admin, made["id"])) == made


@pytest.mark.parametrize("version", [2, 10**14])
def test_a_version_mismatch_shows_the_current_entry(tenant: Tenant, version: int) -> None:
    made = create(tenant.admin, entry())
    problem = refused(update(tenant.admin, made["id"], version, value={}), 409, "VERSION_MISMATCH")
    assert (problem["current_version"], problem["current"]) == (1, made)


def test_a_conflict_shows_the_entry_only_to_who_may_read_it(tenant: Tenant) -> None:
    blind = tenant.user("blind", permissions=["memory.write"])
    made = create(blind, entry(value={"hidden": "treasure"}))
    for answer in (
        blind.post(MEMORY, json=entry(value={"n": 2})),
        update(blind, made["id"], 5, value={}),
    ):
        assert answer.status_code == 409
        assert answer.json()["current_version"] == 1
        assert "current" not in answer.json()
        assert "treasure" not in answer.text
