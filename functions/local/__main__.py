"""`python -m functions.local`: the whole service on this machine (contract §1)."""

import os
import signal
import sys
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from functions.local import data_folder, database, serving, streams
from functions.local.bootstrap import (
    ADMIN,
    API_KEY_FILE,
    MEMORY_TABLE,
    Service,
    prepare,
)
from functions.local.database import Database
from functions.local.failure import CannotServe
from functions.local.server import listen, url
from functions.local.settings import LocalSettings
from functions.local.upkeep import Upkeep
from functions.platform.clock import now_ms
from functions.platform.observability import logger

_ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Serves until it is told to stop; the process's exit code."""
    for ending in (signal.SIGINT, signal.SIGTERM):  # a background shell would have SIGINT ignored
        signal.signal(ending, _interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as nohup has it
        signal.signal(signal.SIGHUP, _hang_up)
    logger.setLevel(os.environ.get("POWERTOOLS_LOG_LEVEL", "WARNING"))  # a terminal, not a log
    os.umask(0o077)  # whatever is written holds memory or keys
    try:
        _serve(LocalSettings.from_env())
    except KeyboardInterrupt:
        return 0
    except CannotServe as error:
        print(f"agent-memory: {error}", file=sys.stderr)
        return 1
    return 0


def _interrupt(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def _hang_up(_signal: int, _frame: FrameType | None) -> None:
    signal.raise_signal(signal.SIGTERM)


def _serve(settings: LocalSettings) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(data_folder.opened(settings.data))
        listener = stack.enter_context(listen(settings.host, settings.port))
        store = stack.enter_context(database.opened(settings, folder, _ROOT))
        service = prepare(settings, folder, store)
        upkeep = Upkeep(service, folder, store, streams.arn_of(MEMORY_TABLE), settings)
        greet = partial(print, _greeting(url(listener), folder.path, store, service), flush=True)
        if store.simulated or settings.workers == 1 or sys.platform != "linux":
            serving.alone(listener, service.handler, upkeep, greet)
        else:
            serving.together(settings.workers, listener, service.handler, upkeep, greet)
        raise CannotServe("the embedded database has stopped; start again, nothing is lost")


def _greeting(address: str, folder: Path, store: Database, service: Service) -> str:
    facts = [
        ("address", address),
        ("data folder", str(folder)),
        ("database", store.place),
        ("API key", service.api_key),
    ]
    lines = ["agent-memory is ready", *(f"  {name:<12} {value}" for name, value in facts), ""]
    if store.simulated:
        lines += [
            "WARNING: no embedded database for this platform; NOTHING IS KEPT at the end.",
            "",
        ]
    if not service.key_works:
        lines += [
            f"This API key was rotated or revoked; put a good one into {folder / API_KEY_FILE}.",
            "",
        ]
    return "\n".join([*lines, "Try it:", "", _first_call(address, service.api_key), ""])


def _first_call(address: str, api_key: str) -> str:
    """Two commands for a shell: one writes an entry, whose key is new each time, one reads it."""
    key = f"hello-{now_ms()}"
    where = f"agent_id={ADMIN}&namespace=demo&key={key}"
    entry = f'"namespace": "demo", "key": "{key}", "value": {{"text": "Hi"}}'
    return f"""\
curl -sS -X POST {address}/api/v1/memory \\
  -H 'X-API-Key: {api_key}' -H 'Content-Type: application/json' \\
  -d '{{{entry}, "memory_type": "working"}}'

curl -sS -H 'X-API-Key: {api_key}' \\
  '{address}/api/v1/memory?{where}'"""


if __name__ == "__main__":
    sys.exit(main())
