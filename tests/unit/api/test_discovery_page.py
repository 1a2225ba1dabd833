"""Contract §6: what the service says of itself is true, and its page is safe and whole."""

import base64
import json
import re
from hashlib import sha256

from functions.api.docs_page import render
from functions.platform.errors import ERROR_CODES
from tests.contract.service import Tenant
from tests.unit.api.reading import Json


def test_every_problem_code_is_explained(tenant: Tenant) -> None:
    page = tenant.service.client().get("/docs").text
    for code in ERROR_CODES:
        assert f'id="{code}"' in page


def test_the_limits_that_it_tells_are_those_that_hold(document: Json, tenant: Tenant) -> None:
    limits = tenant.service.client().get("/api/v1/capabilities").json()["memory"]["limits"]
    new = document["components"]["schemas"]["NewEntryBody"]["properties"]
    assert limits["namespace_characters"] == new["namespace"]["maxLength"]
    assert limits["key_characters"] == new["key"]["maxLength"]
    assert limits["agent_id_characters"] == new["agent_id"]["anyOf"][0]["maxLength"]
    assert limits["tags"] == new["tags"]["maxItems"]
    assert limits["tag_characters"] == new["tags"]["items"]["maxLength"]
    page = tenant.admin.get("/api/v1/memory").json()
    assert limits["page_entries_default"] == page["limit"]
    most = limits["page_entries"]
    assert tenant.admin.get("/api/v1/memory", params={"limit": most}).status_code == 200
    assert tenant.admin.get("/api/v1/memory", params={"limit": most + 1}).status_code == 400


def test_nothing_is_claimed_that_is_not_there(tenant: Tenant) -> None:
    client = tenant.service.client()
    assert client.get("/.well-known/openwop").json()["capabilities"] == {
        "agents": {"memoryBackends": ["longTerm"]},
        "memory": {"supported": True, "maxEntrySizeBytes": 65_536, "ttlSupported": True},
    }
    assert client.get("/api/v1/capabilities").json()["extensions"] == ["memory_search"]
    spoken = client.get("/.well-known/openintent.json").json()
    assert spoken["openApiUrl"] == "/openapi.json"
    assert spoken["capabilities"] == ["memory", "tasks", "optimistic-concurrency"]


def test_the_page_loads_nothing_and_runs_nothing(tenant: Tenant) -> None:
    answer = tenant.service.client().get("/docs")
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    (style,) = re.findall("<style>(.*?)</style>", answer.text, re.DOTALL)
    digest = base64.b64encode(sha256(style.encode()).digest()).decode()
    policy = answer.headers["Content-Security-Policy"]
    assert policy.startswith(f"default-src 'none'; style-src 'sha256-{digest}';")
    assert "unsafe" not in policy
    assert not re.search(r"<script|<img|<link|\bsrc=|\bstyle=|\bon\w+=", answer.text)


def test_the_pages_links_lead_somewhere(tenant: Tenant) -> None:
    page = tenant.service.client().get("/docs").text
    anchors = re.findall(r'\bid="([^"]*)"', page)
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r'href="#([^"]*)"', page)) <= set(anchors)
    assert set(re.findall(r'href="([^#"][^"]*)"', page)) == {"/openapi.json"}


def test_the_page_escapes_what_it_shows(document: Json) -> None:
    hostile = json.loads(json.dumps(document).replace("Create an entry", "<script>x</script>"))
    assert "<script" not in render(hostile)


def test_nothing_is_left_to_be_done(tenant: Tenant) -> None:
    client = tenant.service.client()
    for path in ("/openapi.json", "/docs", "/api/v1/capabilities"):
        assert not re.search(r"todo|fixme|contract §", client.get(path).text, re.IGNORECASE)
