"""Fairness: a principal's requests and a tenant's are limited, each for itself."""

import pytest

from functions.identity.model import Principal
from functions.platform.errors import Throttled
from functions.usage.admission import RateLimiter

ADA, BOB, EVE = (
    Principal(tenant, id, "agent", frozenset())
    for tenant, id in (("t1", "ada"), ("t1", "bob"), ("t2", "ada"))
)


class Time:
    """Seconds that a test sets."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


def send(limiter: RateLimiter, caller: Principal, count: int) -> int:
    taken = 0
    for _ in range(count):
        try:
            limiter.check(caller)
        except Throttled:
            continue
        taken += 1
    return taken


def test_a_principal_sends_a_minutes_requests_at_once_and_then_evenly_as_many() -> None:
    time = Time()
    limiter = RateLimiter(60, 0, time)
    assert send(limiter, ADA, 70) == 60
    time.now += 2
    assert send(limiter, ADA, 70) == 2
    assert send(limiter, BOB, 70) == send(limiter, EVE, 70) == 60
    time.now += 3600
    assert send(limiter, ADA, 70) == 60


def test_a_tenants_principals_share_its_limit() -> None:
    limiter = RateLimiter(0, 10, Time())
    assert (send(limiter, ADA, 7), send(limiter, BOB, 7), send(limiter, EVE, 7)) == (7, 3, 7)


def test_who_is_refused_learns_when_to_try_again() -> None:
    time = Time()
    limiter = RateLimiter(6, 0, time)
    send(limiter, ADA, 6)
    with pytest.raises(Throttled, match="principal sends more than 6") as caught:
        limiter.check(ADA)
    assert caught.value.retry_after == 10
    time.now += caught.value.retry_after
    limiter.check(ADA)


def test_what_is_refused_for_the_tenant_does_not_count_for_the_principal() -> None:
    time = Time()
    limiter = RateLimiter(10, 5, time)
    assert send(limiter, ADA, 100) == 5
    time.now += 12
    assert send(limiter, ADA, 100) == 1
    assert send(RateLimiter(0, 0, time), ADA, 1000) == 1000
