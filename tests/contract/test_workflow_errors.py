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
        ("name: w\nplan:\n- task: a\n- task: a", 4, "plan.1.task"),
        ("name: w\nplan: [", 2, "body"),
    ],
)
def test_an_error_names_its_line(tenant: Tenant, text: str, line: int, says: str) -> None:
    errors = wrong(tenant.admin, text)
    assert any(f"line {line}: " in each and says in each for each in errors), errors


@pytest.mark.parametrize(
    ("text", "media"),
    [
        ("", "application/yaml"),
        ("{", "application/json"),
        ("name: w\nplan: [null]", "text/plain"),
    ],
)
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
