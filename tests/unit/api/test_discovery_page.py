"""Test that the service's page about itself is true, and its API reference safe and whole."""

import re

from functions.platform.errors import ERROR_CODES
from tests.contract.documented import Json
from tests.contract.service import Tenant


def test_every_error_code_is_explained(document: Json) -> None:
    description = document["info"]["description"]
    for code, error in ERROR_CODES.items():
        row = f"| `{code}` | {error.status} | {error.description} | {error.remedy} |"
        assert row in description


def test_the_limits_that_it_names_are_those_in_force(document: Json, tenant: Tenant) -> None:
    limits = tenant.service.client().get("/api/v1/capabilities").json()["memory"]["limits"]
    new = document["components"]["schemas"]["NewEntryBody"]["properties"]
    assert limits["namespace_characters"] == new["namespace"]["maxLength"]
    assert limits["key_characters"] == new["key"]["maxLength"]
    assert limits["agent_id_characters"] == new["agent_id"]["anyOf"][0]["maxLength"]
    tags = new["tags"]["anyOf"][0]
    assert limits["tags"] == tags["maxItems"]
    assert limits["tag_characters"] == tags["items"]["maxLength"]
    page = tenant.admin.get("/api/v1/memory").json()
    assert limits["page_entries_default"] == page["limit"]
    most = limits["page_entries"]
    assert tenant.admin.get("/api/v1/memory", params={"limit": most}).status_code == 200
    assert tenant.admin.get("/api/v1/memory", params={"limit": most + 1}).status_code == 400


def test_nothing_is_claimed_that_is_not_there(tenant: Tenant) -> None:
    client = tenant.service.client()
    openwop = client.get("/.well-known/openwop").json()["capabilities"]
    assert openwop["agents"] == {"memoryBackends": ["longTerm"]}
    assert openwop["memory"].keys() == {
        "supported",
        "maxEntrySizeBytes",
        "ttlSupported",
        "writable",
        "search",
        "retention",
        "attribution",
        "runs",
        "replay",
        "redaction",
        "injectionBudget",
    }
    assert client.get("/api/v1/capabilities").json()["extensions"] == ["memory_search"]
    spoken = client.get("/.well-known/openintent.json").json()
    assert spoken["openApiUrl"] == "/openapi.json"
    assert spoken["capabilities"] == ["memory", "tasks", "optimistic-concurrency"]


def test_the_reference_loads_only_files_of_its_own_origin(tenant: Tenant) -> None:
    client = tenant.service.client()
    page = client.get("/docs")
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    files = re.findall(r'(?:src|href)="(/docs/[^"]+)"', page.text)
    assert len(files) == 4
    for path in files:
        answer = client.get(path)
        assert answer.status_code == 200, path
        assert answer.headers["Content-Security-Policy"].startswith("default-src 'none'; ")


def test_the_references_policy_allows_no_inline_code_and_no_other_origin(tenant: Tenant) -> None:
    page = tenant.service.client().get("/docs")
    policy = page.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "http" not in policy
    assert not re.search(r"<script>|<style|\bstyle=|\bon\w+=|https?:", page.text)


def test_large_files_of_the_reference_are_compressed_for_who_takes_it(tenant: Tenant) -> None:
    client = tenant.service.client()
    path = "/docs/swagger-ui-bundle.js"
    compressed = client.get(path, headers={"Accept-Encoding": "gzip"})
    plain = client.get(path, headers={"Accept-Encoding": "identity"})
    assert compressed.headers["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in plain.headers
    assert compressed.content == plain.content
    assert compressed.headers["Cache-Control"] == plain.headers["Cache-Control"]


def test_no_other_file_is_served_as_one_of_the_reference(tenant: Tenant) -> None:
    client = tenant.service.client()
    assert client.get("/docs/package.json").status_code == 404
    assert client.get("/docs/..%2Fmain.py").status_code == 404


def test_nothing_is_left_to_be_done(tenant: Tenant) -> None:
    client = tenant.service.client()
    for path in ("/openapi.json", "/docs", "/api/v1/capabilities"):
        assert not re.search(r"todo|fixme|contract §", client.get(path).text, re.IGNORECASE)
