"""Assert what a test expects of an answer."""

from typing import Any

import httpx


def ok(response: httpx.Response, status: int = 200) -> Any:
    """The JSON of an answer that must have this status."""
    assert response.status_code == status, f"{response.status_code}: {response.text[:2000]}"
    assert response.headers["Content-Type"].partition(";")[0] == "application/json"
    return response.json()


def assert_no_content(response: httpx.Response) -> None:
    """The answer must be an empty 204."""
    assert response.status_code == 204, f"{response.status_code}: {response.text[:2000]}"
    assert response.content == b""


def refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The problem document of an answer that must refuse with this status and code."""
    problem: dict[str, Any] = response.json() if response.content else {}
    assert (response.status_code, problem.get("code")) == (status, code), response.text[:2000]
    return problem


def invalid(response: httpx.Response, *fields: str) -> None:
    """The answer must be a 400 that names each of these fields."""
    errors = refused(response, 400, "VALIDATION_ERROR")["errors"]
    assert errors
    assert all(error.keys() == {"field", "message"} for error in errors)
    for field in fields:
        assert any(field in error["field"] for error in errors), errors


def only_list(body: dict[str, Any]) -> list[dict[str, Any]]:
    """The one list in the answer to a list call."""
    (found,) = [value for value in body.values() if isinstance(value, list)]
    return found
