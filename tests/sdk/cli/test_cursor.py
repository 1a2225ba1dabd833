"""`EntryCursor` against any order of creates and deletes between its pages."""

from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest
from agent_memory import Client
from agent_memory.cli.cursor import EntryCursor
from agent_memory.exceptions import InvalidAnswerError
from hypothesis import example, given
from hypothesis import strategies as st

Change = tuple[int, list[int]]  # how many are created, and which are deleted


@dataclass
class ListServer:
    """A list as the service pages it (contract §3), that changes after each page."""

    changes: list[Change]
    most: int
    entries: list[dict[str, Any]] = field(default_factory=list)  # newest first
    created: int = 0
    pages: int = 0

    def create(self, count: int) -> None:
        """Creates entries, three in each moment."""
        for _ in range(count):
            time = f"2026-01-01T00:00:00.{self.created // 3:03d}Z"
            entry = {"id": f"mem_{self.created:05d}", "created_at": time}
            self.entries.insert(0, entry)
            self.created += 1

    def __call__(self, request: httpx.Request) -> httpx.Response:
        """Answers a page, then makes the next change."""
        limit, offset = (int(request.url.params[name]) for name in ("limit", "offset"))
        page = self.entries[offset : offset + min(limit, self.most)]
        answer: dict[str, Any] = {"entries": page, "total": len(self.entries)}
        if offset + len(page) < len(self.entries):
            answer["next_offset"] = offset + len(page)
        if self.pages < len(self.changes):
            created, deleted = self.changes[self.pages]
            gone = {at % len(self.entries) for at in deleted if self.entries}
            self.entries = [each for at, each in enumerate(self.entries) if at not in gone]
            self.create(created)
        self.pages += 1
        assert self.pages < 1000
        return httpx.Response(200, json=answer)


def walked(server: ListServer) -> list[str]:
    with Client("http://list", "am_x", transport=httpx.MockTransport(server)) as client:
        return [each["id"] for each in EntryCursor(client, {})]


changes = st.lists(
    st.tuples(st.integers(0, 400), st.lists(st.integers(0, 5000), max_size=300)), max_size=12
)


@given(held=st.integers(0, 900), changes=changes, most=st.integers(20, 1000))
@example(held=900, changes=[(150, [])] * 40, most=1000)
@example(held=900, changes=[(0, list(range(200)))] * 4, most=1000)
@example(held=900, changes=[(0, list(range(700, 900)))] * 4, most=3)
@example(held=300, changes=[(0, list(range(300)))], most=2)
@example(held=300, changes=[(300, list(range(300)))] * 5, most=50)
def test_what_stands_throughout_is_given_once(held: int, changes: list[Change], most: int) -> None:
    server = ListServer(changes, most)
    server.create(held)
    before = [each["id"] for each in reversed(server.entries)]
    given_out = walked(server)
    after = {each["id"] for each in server.entries}
    assert [each for each in given_out if each in after] == [e for e in before if e in after]
    assert given_out == sorted(set(given_out))
    assert set(given_out) <= set(before)


def test_a_server_whose_pages_can_not_be_walked_is_refused() -> None:
    server = ListServer([], most=1)
    server.create(5)
    with pytest.raises(InvalidAnswerError, match="fewer than two"):
        walked(server)


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"entries": []}'])
def test_another_kind_of_answer_is_refused(body: bytes) -> None:
    transport = httpx.MockTransport(lambda _: httpx.Response(200, content=body))
    with (
        Client("http://list", "am_x", transport=transport) as client,
        pytest.raises(InvalidAnswerError),
    ):
        EntryCursor(client, {})
