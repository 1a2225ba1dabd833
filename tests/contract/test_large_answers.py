"""A page is cut where it would pass 5 MB."""

from typing import Any

import httpx
import pytest

from tests.contract.bodies import BATCH, MEMORY, entry, semantic, sized
from tests.contract.expect import ok
from tests.contract.service import Tenant

MOST_BYTES = 5 * 1024 * 1024
COUNT = 90
Library = tuple[httpx.Client, dict[str, str]]


@pytest.fixture(params=["episodic", "semantic"])
def library(request: pytest.FixtureRequest, tenant: Tenant) -> Library:
    """A user with 90 values of 64 KB of one tier, and the filter that finds them."""
    make = entry if request.param == "episodic" else semantic
    alice = tenant.user("alice")
    for start in range(0, COUNT, 15):
        keys = [f"k{number}" for number in range(start, start + 15)]
        body = {"entries": [make(key=key, value=sized(65_536)) for key in keys]}
        ok(alice.post(BATCH, json=body))
    return alice, {"namespace": make()["namespace"], "limit": "1000"}


def test_a_page_is_truncated_and_names_the_next(library: Library) -> None:
    alice, filters = library
    pages: list[dict[str, Any]] = []
    offset: int | None = 0
    while offset is not None:
        answer = alice.get(MEMORY, params=filters | {"offset": str(offset)})
        assert len(answer.content) <= MOST_BYTES
        pages.append(ok(answer))
        assert pages[-1]["total"] == COUNT
        offset = pages[-1].get("next_offset")
        assert offset is None or len(answer.content) > 0.9 * MOST_BYTES
    assert len(pages) == 2
    assert pages[0]["next_offset"] == len(pages[0]["entries"]) == pages[1]["offset"]
    assert len({each["id"] for page in pages for each in page["entries"]}) == COUNT
