"""Test how the gateway handles bodies and headers."""

import pytest

from tests.contract.bodies import MEMORY, create, entry, query, read, sized
from tests.contract.expect import ok, refused
from tests.contract.service import Service, Tenant
from tests.e2e.fixtures import E2E

pytestmark = E2E


@pytest.mark.parametrize(
    "media_type", ["application/json", "application/octet-stream", "application/yaml", None]
)
def test_a_body_arrives_whole_whatever_it_is_called(tenant: Tenant, media_type: str | None) -> None:
    body = '{"namespace":"n","key":"k","memory_type":"episodic","value":{"é":"🤖"}}'.encode()
    headers = {} if media_type is None else {"Content-Type": media_type}
    made = ok(tenant.admin.post(MEMORY, content=body, headers=headers), 201)
    assert made["value"] == {"é": "🤖"}


def test_an_answer_of_megabytes_comes_whole(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    for number in range(40):
        create(ada, entry(key=f"k{number}", value=sized(65_536)))
    assert len({each["key"] for each in query(ada)}) == 40


def test_headers_come_through_in_any_case(tenant: Tenant) -> None:
    made = create(tenant.admin, entry())
    stale = {"IF-MATCH": '"7"', "X-Request-ID": "mine"}
    refused(
        tenant.admin.patch(f"{MEMORY}/{made['id']}", json={"pinned": True}, headers=stale),
        409,
        "VERSION_MISMATCH",
    )
    answer = read(tenant.admin, made["id"])
    assert answer.headers["ETag"] == '"1"'


def test_what_needs_no_key_needs_none(service: Service) -> None:
    stranger = service.client()
    assert stranger.get("/docs").headers["Content-Type"].startswith("text/html")
    for path in ("/health", "/openapi.json", "/api/v1/capabilities"):
        ok(stranger.get(path))
    refused(stranger.get(MEMORY), 401, "UNAUTHENTICATED")
