"""RFC-0015's own documents, and what the published client writes, are taken as they are printed."""

from typing import Any

import httpx
import pytest
from openintent.models import MemoryEntry  # type: ignore[import-untyped]

from functions.platform.clock import from_rfc3339
from tests.contract.bodies import BATCH, MEMORY, create, entry, read
from tests.contract.expect import ok, refused
from tests.contract.service import Tenant

EXAMPLE: dict[str, Any] = {  # RFC-0015 §1
    "id": "mem_01HXYZ",
    "agent_id": "ada",
    "namespace": "invoice_processing",
    "key": "batch_progress",
    "value": {"total": 47, "completed": 23, "last_id": "inv_789", "errors": []},
    "memory_type": "working",
    "scope": {"task_id": "task_01HXYZ", "intent_id": "intent_01HABC"},
    "tags": ["batch", "invoices", "in-progress"],
    "ttl": "task_lifetime",
    "version": 1,
    "created_at": "2026-02-08T10:00:00Z",
    "updated_at": "2026-02-08T10:30:00Z",
    "expires_at": None,
}
POLICY: dict[str, Any] = {  # §2.3
    "namespace": "company_policies",
    "key": "charge_approval_threshold",
    "value": {"rule": "Charges exceeding $10,000 require manager approval"},
    "memory_type": "semantic",
    "tags": ["policy", "billing", "approval", "threshold"],
    "curated_by": "user_01HABC",
    "version": 3,
}
RESUMED: dict[str, Any] = {  # §8.2
    "namespace": "invoice_processing",
    "key": "batch_progress",
    "value": {"total": 47, "completed": 24, "resumed_from": "mem_01HXYZ"},
    "memory_type": "working",
    "scope": {"task_id": "task_01HXYZ"},
    "tags": ["batch", "resumed"],
    "created_by": "agent_billing_02",
}


def test_documents_of_the_specification_are_created_as_printed(
    tenant: Tenant, ada: httpx.Client
) -> None:
    made = create(ada, EXAMPLE)
    assert made["id"] != EXAMPLE["id"]
    assert made["version"] == 1
    assert create(tenant.coordinator("carl"), POLICY)["curated_by"] == "carl"
    assert create(tenant.agent("bob"), RESUMED | {"scope": {}})["created_by"] == "bob"


@pytest.mark.parametrize("tier", ["working", "episodic"])
def test_what_the_published_client_renders_can_be_posted_again(
    ada: httpx.Client, tier: str
) -> None:
    made = create(ada, entry(memory_type=tier, ttl="PT24H"))
    ok_again = MemoryEntry.from_dict(made).to_dict() | {"key": "again"}
    again = create(ada, ok_again)
    assert (again["value"], again["ttl"]) == (made["value"], "duration:PT24H")


@pytest.mark.parametrize("ttl", ["3600", "3600.0", 3600])
def test_a_time_to_live_is_a_number_of_seconds_too(ada: httpx.Client, ttl: object) -> None:
    made = create(ada, entry(ttl=ttl))
    assert from_rfc3339(made["expires_at"]) == from_rfc3339(made["updated_at"]) + 3_600_000


def test_a_fetched_entry_is_taken_in_a_batch_without_its_version(ada: httpx.Client) -> None:
    made = create(ada, entry())
    copy = {name: each for name, each in made.items() if name != "version"} | {"key": "copy"}
    (copied,) = ok(ada.post(BATCH, json={"entries": [copy]}))["entries"]
    assert copied["id"] != made["id"]


def test_an_error_of_a_single_create_has_no_index(ada: httpx.Client) -> None:
    create(ada, entry())
    assert "index" not in refused(ada.post(MEMORY, json=entry()), 409, "ENTRY_EXISTS")


def test_an_authenticated_answer_is_stored_nowhere(ada: httpx.Client) -> None:
    for answer in (read(ada, create(ada, entry())["id"]), ada.get("/nothing"), ada.get("/health")):
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
