"""Test that the stored data of a request shows a reader of the table nothing of its body."""

import json
from collections.abc import Callable, Iterator
from hashlib import blake2b, md5, sha1, sha256
from typing import Any

import pytest

from tests.contract.bodies import MEMORY, entry
from tests.contract.service import Service, Tenant

pytestmark = pytest.mark.in_process

PIN = {"pin": "4711"}
RESTRICTED = {"sensitivity": "restricted"}
SENT: dict[str, tuple[str, str, Any]] = {
    "entry": ("POST", MEMORY, entry(value=PIN, **RESTRICTED)),
    "batch": ("POST", f"{MEMORY}/batch", {"entries": [entry(value=PIN, **RESTRICTED)]}),
    "run": ("POST", "/api/v1/runs", {"agent_type": "sdr", "input": PIN} | RESTRICTED),
    "state": ("PUT", "/api/v1/agents/admin/state/bob/pin", {"value": PIN} | RESTRICTED),
    "workflow": ("POST", "/api/v1/workflows", {"name": "w", "version": "4711"}),
}
HASHES: list[Callable[[bytes], bytes]] = [
    lambda text: sha256(text).digest(),
    lambda text: sha1(text, usedforsecurity=False).digest(),
    lambda text: md5(text, usedforsecurity=False).digest(),
    *(
        lambda text, size=size: blake2b(text, digest_size=size).digest()
        for size in (8, 16, 20, 32, 64)
    ),
]


@pytest.mark.parametrize("name", SENT)
def test_no_stored_attribute_confirms_a_guess(tenant: Tenant, service: Service, name: str) -> None:
    method, path, body = SENT[name]
    content = json.dumps(body).encode()
    answer = tenant.admin.request(
        method, path, content=content, headers={"Idempotency-Key": "once"}
    )
    assert answer.is_success, answer.text
    stored = list(_binaries(service.stored()))
    for guess in (content, f"{method} {path}\n".encode() + content, *_parts(body)):
        for hashed in (each(guess)[:8] for each in HASHES):
            assert not any(hashed in each or hashed.hex().encode() in each for each in stored)


def _parts(body: dict[str, Any]) -> Iterator[bytes]:
    for value in (PIN, "4711", body):
        yield json.dumps(value, separators=(",", ":")).encode()


def _binaries(attribute: Any) -> Iterator[bytes]:
    """All binary values and texts of items."""
    if isinstance(attribute, dict):
        for each in attribute.values():
            yield from _binaries(each)
    elif isinstance(attribute, list):
        for each in attribute:
            yield from _binaries(each)
    elif isinstance(attribute, bytes | str):
        yield attribute if isinstance(attribute, bytes) else attribute.encode()
