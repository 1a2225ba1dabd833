"""Documents of other programs are accepted as they are."""

import httpx
import pytest

from functions.platform.clock import from_rfc3339
from tests.contract.bodies import BATCH, MEMORY, create, entry, read
from tests.contract.expect import ok, refused


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
