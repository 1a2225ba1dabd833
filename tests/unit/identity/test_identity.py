"""Which principals are well-formed, how long they are cached, when they expire."""

from collections.abc import Iterator
from unittest.mock import Mock

import pytest

from functions.audit.service import AuditTrail
from functions.identity.authentication import Authentication
from functions.identity.model import ALL_PERMISSIONS, Principal
from functions.identity.requests import NewPrincipal, NewTenant
from functions.identity.service import Principals
from functions.identity.store import PrincipalStore, StoredPrincipal
from functions.platform.errors import Unauthenticated, ValidationFailed
from functions.platform.idempotency import RequestToken
from functions.platform.validation import validate

ALICE = Principal("t1", "alice", "agent", frozenset({"memory.read"}))
ADMIN = Principal("t1", "boss", "user", ALL_PERMISSIONS)


KEY = {"x-api-key": "k"}


def build_jwt(tenant: str, principal: str) -> dict[str, dict[str, str]]:
    return {"claims": {"org": tenant, "sub": principal}}


class Clock:
    """A clock that a test sets."""

    now = 0

    def __call__(self) -> int:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def store() -> Iterator[Mock]:
    """A store that holds Alice."""
    made = Mock(spec=PrincipalStore)
    made.get_by_api_key.return_value = ALICE
    made.get.return_value = StoredPrincipal(ALICE, "~key#1", b"", None)
    return made


@pytest.fixture
def authentication(store: Mock, clock: Clock) -> Authentication:
    """Caches principals for a minute."""
    return Authentication(store, lambda: "root", clock, 60, ("org", "sub"))


@pytest.fixture
def identity(store: Mock, clock: Clock, authentication: Authentication) -> Principals:
    """Changes principals, and the cache."""
    trail, invalidate = AuditTrail(clock, 0), authentication.invalidate_cache
    return Principals(store, trail, lambda purpose: purpose, invalidate, clock)


def test_a_key_is_read_once_a_minute(
    authentication: Authentication, store: Mock, clock: Clock
) -> None:
    for clock.now, reads in ((0, 1), (59_999, 1), (60_000, 2), (60_001, 2)):
        assert authentication.authenticate(KEY) is ALICE
        assert store.get_by_api_key.call_count == reads


def test_keys_and_tokens_are_cached_apart(authentication: Authentication, store: Mock) -> None:
    authentication.authenticate({}, build_jwt("t1", "alice"))
    store.get.return_value = store.get_by_api_key.return_value = None
    assert authentication.authenticate({}, build_jwt("t1", "alice")) is ALICE
    for unknown in (("t1", "bob"), ("t1a", "lice")):
        with pytest.raises(Unauthenticated):
            authentication.authenticate({}, build_jwt(*unknown))
    with pytest.raises(Unauthenticated):
        authentication.authenticate({"x-api-key": "t1\nalice"})


def test_a_change_invalidates_the_cache(
    authentication: Authentication, identity: Principals, store: Mock
) -> None:
    authentication.authenticate(KEY)
    identity.revoke(ADMIN, "alice")
    store.get_by_api_key.return_value = None
    with pytest.raises(Unauthenticated):
        authentication.authenticate(KEY)


def test_a_read_during_a_change_is_not_cached(authentication: Authentication, store: Mock) -> None:
    def read(_: str) -> Principal:
        authentication.invalidate_cache()
        return ALICE

    store.get_by_api_key.side_effect = read
    authentication.authenticate(KEY)
    authentication.authenticate(KEY)
    assert store.get_by_api_key.call_count == 2


def test_a_cached_principal_expires_at_its_instant(
    authentication: Authentication, store: Mock, clock: Clock
) -> None:
    store.get_by_api_key.return_value = ALICE._replace(expires_at=10)
    clock.now = 9
    authentication.authenticate(KEY)
    clock.now = 10
    with pytest.raises(Unauthenticated):
        authentication.authenticate(KEY)


def test_a_retry_derives_its_key_again(identity: Principals, store: Mock) -> None:
    new, token = NewPrincipal(id="alice", kind="agent"), RequestToken.create()
    store.add.return_value = "added"
    _, first = identity.create_principal(ADMIN, new, token, "once")
    (principal, key, *_), _ = store.add.call_args
    store.add.return_value = "taken"
    store.get.return_value = StoredPrincipal(principal, "~key#1", token.stored, key.salt)
    assert identity.create_principal(ADMIN, new, token, "once") == (principal, first)


@pytest.mark.parametrize(
    "id", ["", "-a", ".a", "a#b", "a/b", "a b", "é", "a\n", "a" * 65, "a\u0000"]
)
def test_a_tenant_id_must_be_plain(id: str) -> None:
    with pytest.raises(ValidationFailed):
        validate(NewTenant, {"id": id})
