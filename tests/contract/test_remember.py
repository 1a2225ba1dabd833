"""CONTRACT: `POST /api/v1/remember` stores one memory where it belongs, each text once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from tests.contract.bodies import MEMORY, NAMESPACES, update
from tests.contract.expect import invalid, ok, refused
from tests.contract.service import Tenant

REMEMBER = "/api/v1/remember"


@pytest.fixture
def ada(tenant: Tenant) -> httpx.Client:
    """An agent that may write the memory of users."""
    rule = {"permissions": {"default": "none", "allow": [{"agent": "ada", "access": "write"}]}}
    ok(tenant.admin.patch(f"{NAMESPACES}/users%2F*", json=rule))
    return tenant.agent("ada")


def remember(client: httpx.Client, status: int = 201, **body: Any) -> dict[str, Any]:
    answer: dict[str, Any] = ok(client.post(REMEMBER, json=body), status)
    return answer


def test_a_memory_is_the_callers_own(tenant: Tenant) -> None:
    ada = tenant.agent("ada")
    made = remember(ada, text="Invoices go out on Fridays", tags=["billing"], source="handbook")
    assert (made["namespace"], made["memory_type"]) == ("agents/ada/memory", "semantic")
    assert made["value"] == {"text": "Invoices go out on Fridays", "source": "handbook"}
    assert (made["tags"], made["expires_at"]) == (["billing"], None)
    assert ok(ada.get(f"{MEMORY}/{made['id']}")) == made
    refused(tenant.agent("bob").get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")


def test_a_memory_about_a_user_is_the_users(tenant: Tenant, ada: httpx.Client) -> None:
    made = remember(ada, text="Prefers e-mail", user_id="jo/e@example.com")
    assert made["namespace"] == "users/jo%2Fe%40example.com/memory"
    refused(tenant.agent("bob").get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")


def test_an_administrators_first_memory_about_a_user_closes_the_memory_of_users(
    tenant: Tenant,
) -> None:
    made = remember(tenant.admin, text="Prefers e-mail", user_id="jo")
    assert remember(tenant.admin, 200, text="prefers e-mail", user_id="jo") == made
    bob = tenant.agent("bob")
    refused(bob.get(f"{MEMORY}/{made['id']}"), 403, "ACCESS_DENIED")
    refused(bob.post(REMEMBER, json={"text": "x", "user_id": "al"}), 403, "ACCESS_DENIED")


def test_open_memory_of_users_is_not_closed_by_a_memory(tenant: Tenant) -> None:
    ok(tenant.admin.patch(f"{NAMESPACES}/users%2F*", json={"permissions": {"default": "write"}}))
    body = {"text": "x", "user_id": "jo"}
    refused(tenant.admin.post(REMEMBER, json=body), 403, "ACCESS_DENIED")


@pytest.mark.parametrize("place", [{}, {"user_id": "jo"}])
@pytest.mark.parametrize("again", ["prefers  E-mail!", "PREFERS e mail", "Prefers e-mail"])
def test_the_same_text_is_stored_once(ada: httpx.Client, place: dict[str, Any], again: str) -> None:
    made = remember(ada, text="Prefers e-mail", **place)
    assert remember(ada, 200, text=again, **place) == made
    assert remember(ada, text="Prefers letters", **place)["id"] != made["id"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Ada writes C++", "Ada writes C#"),
        ("The balance is -5", "The balance is 5"),
        ("Ada answered 👍", "Ada answered 👎"),
        ("राम की किताब", "राम का किताब"),
    ],
)
def test_texts_that_differ_by_a_sign_are_two_memories(
    ada: httpx.Client, one: str, other: str
) -> None:
    assert remember(ada, text=one)["id"] != remember(ada, text=other)["id"]


def test_the_same_text_in_another_place_is_another_memory(ada: httpx.Client) -> None:
    places: list[dict[str, Any]] = [{}, {"user_id": "jo"}, {"user_id": "al"}]
    made = {remember(ada, text="Prefers e-mail", **place)["id"] for place in places}
    assert len(made) == 3


def test_values_are_compared_without_the_order_of_their_fields(ada: httpx.Client) -> None:
    made = remember(ada, value={"city": "Lisbon", "since": 2024})
    assert remember(ada, 200, value={"since": 2024, "city": "lisbon"}) == made


def test_a_memory_under_a_key_is_not_replaced(ada: httpx.Client) -> None:
    made = remember(ada, text="formal", key="tone")
    assert made["key"] == "tone"
    assert remember(ada, 200, text="Formal.", key="tone") == made
    refused(ada.post(REMEMBER, json={"text": "casual", "key": "tone"}), 409, "ENTRY_EXISTS")


def test_a_memory_that_was_changed_does_not_stand_for_its_former_text(ada: httpx.Client) -> None:
    made = remember(ada, text="Lives in Rome")
    ok(update(ada, made["id"], 1, value={"text": "Lives in Oslo"}))
    second = remember(ada, text="Lives in Rome")
    assert second["id"] != made["id"]
    assert remember(ada, 200, text="lives in rome") == second


def test_of_many_at_once_one_is_stored(ada: httpx.Client) -> None:
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda _: ada.post(REMEMBER, json={"text": "once"}), range(8)))
    assert sorted(each.status_code for each in answers) == [200] * 7 + [201]
    assert len({each.json()["id"] for each in answers}) == 1


def test_a_retry_is_answered_as_the_first_try(ada: httpx.Client) -> None:
    headers = {"Idempotency-Key": "k1"}
    first = ada.post(REMEMBER, json={"text": "once"}, headers=headers)
    again = ada.post(REMEMBER, json={"text": "once"}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()


def test_users_memory_that_everybody_reads_is_refused(tenant: Tenant) -> None:
    boss = tenant.coordinator("boss")
    body = {"text": "Prefers e-mail", "user_id": "jo"}
    assert "users%2F*" in refused(boss.post(REMEMBER, json=body), 403, "ACCESS_DENIED")["detail"]


def test_bad_memories_are_refused(ada: httpx.Client) -> None:
    for body in ({}, {"text": "a", "value": {}}, {"text": ""}):
        assert ada.post(REMEMBER, json=body).status_code == 400
    invalid(ada.post(REMEMBER, json={"text": "a", "user_id": "ü" * 128}), "user_id")
    blank = ada.post(REMEMBER, json={"text": " \n\u00a0"})
    invalid(blank, "text")
    assert "must not be blank" in blank.json()["detail"]
