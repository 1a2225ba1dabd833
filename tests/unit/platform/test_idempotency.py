"""A request is recognized by the history of the item that it wrote."""

import pytest

from functions.platform.errors import IdempotencyConflict
from functions.platform.idempotency import RequestToken, Verdict


def test_a_history_tells_the_latest_request_from_earlier_ones_and_others() -> None:
    first, second, other = (RequestToken.create() for _ in range(3))
    history = second.add_to(first.add_to(None))
    assert second.judge(history) is Verdict.REPLAY
    assert first.judge(history) is Verdict.SUPERSEDED
    assert other.judge(history) is other.judge(None) is Verdict.NEW


def test_a_history_keeps_nine_requests() -> None:
    tokens = [RequestToken.create() for _ in range(10)]
    history = None
    for each in tokens:
        history = each.add_to(history)
    verdicts = [each.judge(history) for each in tokens]
    assert verdicts == [Verdict.NEW, *[Verdict.SUPERSEDED] * 8, Verdict.REPLAY]


def test_the_key_of_the_latest_request_with_another_body_is_a_conflict() -> None:
    token = RequestToken.create()
    with pytest.raises(IdempotencyConflict):
        token._replace(body=b"x" * 8).judge(token.add_to(None))
