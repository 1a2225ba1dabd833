"""RFC-0015 §7, contract §5: what is wrong with a workflow file, and in which line."""

import httpx
import pytest

from tests.contract.expect import refused
from tests.contract.service import Service, Tenant
from tests.contract.test_workflows import WORKFLOWS, send


def wrong(client: httpx.Client, text: str, media: str | None = "application/yaml") -> list[str]:
    """Each error of a file that must be refused: field and message."""
    errors = refused(send(client, text, media), 400, "VALIDATION_ERROR")["errors"]
    return [f"{each['field']}: {each['message']}" for each in errors]


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("name: w\nmemroy: {}", 2, "memroy"),
        ("name: w\nmemory:\n  semantic: [a]", 3, "memory.semantic"),
        ("name: w\nagents:\n  a:\n    episodic_memory:\n      capacity: 0", 5, "capacity"),
        ("name: w\nagents:\n  a:\n    episodic_memory: {eviction_policy: fifo}", 4, "eviction"),
        ("name: w\nplan:\n- task: a\n- agent: b", 4, "plan.1.task"),
        ("name: w\nplan:\n- task: a\n- task: a", 4, "plan.1.task"),
        ("name: w\nplan:\n- task: a\n  depends_on:\n  - b", 5, "no such task"),
        ("name: w\nplan:\n- task: a\n  depends_on: [a]", 4, "waits for itself"),
        ("name: w\nplan:\n- task: a\n  memory_policy:\n    max: 1", 5, "plan.0.memory_policy.max"),
        (
            "name: w\nplan:\n- task: a\n  memory_policy:\n    inherit_from_parent: true",
            5,
            "no parent",
        ),
        ("name: w\nplan: [", 2, "body"),
        ("name: w\n\tplan: []", 2, "body"),
        ("name: w\nname: v", 1, "twice"),
        ("name: w\nplan: &p []\nagents: *p", 2, "aliases"),
        ("name: !!python/object:os.system w", 1, "tags"),
        ("name: w\nplan: " + "[" * 100 + "]" * 100, 2, "deeply"),
        ("name: 7", 1, "name"),
        ("version: 1", 1, "name"),
        ("- name", 1, "body"),
        ("name: w\n---\nname: v", 2, "body"),
    ],
)
def test_an_error_names_its_line(tenant: Tenant, text: str, line: int, says: str) -> None:
    errors = wrong(tenant.admin, text)
    assert any(f"line {line}: " in each and says in each for each in errors), errors


def test_errors_in_json_name_their_line(tenant: Tenant) -> None:
    (error,) = wrong(
        tenant.admin, '{\n "name": "w",\n "plan": [{"task": 7}]\n}', "application/json"
    )
    assert "line 3: " in error
    (error,) = wrong(tenant.admin, '{\n "name": ,}', "application/json")
    assert "line 2" in error


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "\ufeff",
        "name: 2026-99-99",
        "name: 0x_",
        'name: "\\ud800"',
        "a: !!timestamp x",
        "name: w\nversion: .nan",
        "name: w\nversion: .inf",
        "? [a]\n: b",
        "{[a]: b}",
        "\x00",
        "name: w\nversion: " + "9" * 5000,
        "<<: 1",
        "name: =",
        "name: w\nplan: [null]",
    ],
)
@pytest.mark.parametrize("media", ["application/json", "application/yaml", "text/plain"])
def test_a_malformed_file_is_refused(
    tenant: Tenant, service: Service, text: str, media: str
) -> None:
    state = service.state()
    assert wrong(tenant.admin, text, media)
    assert service.state() == state


@pytest.mark.in_process
def test_a_file_that_is_no_text_or_too_large_is_refused(tenant: Tenant) -> None:
    answer = tenant.admin.post(
        WORKFLOWS, content=b"name: \xff", headers={"Content-Type": "text/yaml"}
    )
    refused(answer, 400, "VALIDATION_ERROR")
    large = send(tenant.admin, "name: w\n#" + "x" * 262_144)
    assert refused(large, 413, "BODY_TOO_LARGE")["max"] == 262_144
