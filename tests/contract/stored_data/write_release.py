"""Write what the present release stores, for the tests of later ones.

The clock is fixed and what is random is seeded, so two runs differ at most in the order in which
threads drew random bytes.
"""

import base64
import os
import random
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from tests.contract import engines, stored_data
from tests.contract.bodies import create, entry
from tests.contract.conftest import START
from tests.contract.expect import ok
from tests.contract.filling import fill
from tests.contract.service import start
from tests.contract.streaming import Stream, stream_function
from tests.contract.transport import MovableClock

RELEASE = "release-0.1"
_AGENT = "alice"


@contextmanager
def _seed_others() -> Iterator[None]:
    """Seed what requests' ids and objects' versions are made of."""
    random.seed(RELEASE)
    with patch.object(os, "urandom", Random(RELEASE).randbytes):  # noqa: S311
        yield


def test_write(tmp_path: Path) -> None:
    """Write the folder of the present release."""
    own = Random(RELEASE)  # noqa: S311 - nothing of it is secret
    seeded: dict[str, Any] = {
        "token_bytes": own.randbytes,
        "token_hex": lambda count: own.randbytes(count).hex(),
        "token_urlsafe": lambda count: base64.urlsafe_b64encode(own.randbytes(count)).decode(),
        "randbits": own.getrandbits,
    }
    key_file = tmp_path / stored_data.KEY
    with engines.dynoxide() as engine, patch.multiple(secrets, **seeded), _seed_others():
        engine.make_tables()
        key_file.write_bytes(base64.b64encode(own.randbytes(32)))
        service = start(engine, MovableClock(START), key_file, 60)
        stream, deliver = Stream(service), stream_function(service)
        tenant = service.tenant("acme")
        agent = fill(tenant, _AGENT)
        secret = entry(key="secret", value={"told": "zq-secret"}, sensitivity="restricted")
        create(agent, secret)
        rules = {"guardrails": {"max_working_memory_per_task": 50}}
        ok(tenant.admin.patch("/api/v1/coordinators/boss-of-alice/guardrails", json=rules))
        deliver(stream.read())
        clients = {"admin": tenant.admin, _AGENT: agent}
        keys = {name: client.headers["X-API-Key"] for name, client in clients.items()}
        stored_data.write(stored_data.FOLDER / RELEASE, engine, key_file, keys)
