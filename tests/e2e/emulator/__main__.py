"""`python -m tests.e2e.emulator`: serves until its standard input ends, whatever ends that."""

import os
import sys
import threading

from ministack import app
from ministack.core import lambda_runtime

from tests.e2e.emulator import (
    alarms,
    buckets,
    code,
    concurrency,
    denials,
    deployments,
    encryption_context,
    event_ids,
    expiry,
    leading_keys,
    replicas,
    restarts,
    secret_refs,
    speed,
    streams,
    tables,
)

_PARTS = (
    alarms,
    buckets,
    code,
    concurrency,
    denials,
    deployments,
    encryption_context,
    event_ids,
    expiry,
    leading_keys,
    replicas,
    restarts,
    secret_refs,
    speed,
    streams,
    tables,
)


def _stop_with_parent() -> None:
    sys.stdin.buffer.read()
    lambda_runtime.reset()  # ends the functions' processes
    os._exit(0)


def _only_the_given_port(host: str, port: int) -> bool:  # noqa: ARG001 - the signature is theirs
    """Refuse to listen at 443 as well."""
    return False


def main() -> None:
    """Mend and starts the emulator; its settings are in the environment."""
    app._port_is_bindable = _only_the_given_port
    for part in _PARTS:
        part.mend()
    threading.Thread(target=_stop_with_parent, daemon=True).start()
    app.main()


main()
