"""Run the whole service on this machine: `python -m functions.local`."""

import argparse
import os
import signal
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path

from functions.local.background_tasks import run_background_tasks
from functions.local.bootstrap import (
    ADDRESS_FILE,
    API_KEY_FILE,
    build_container,
    prepare,
)
from functions.local.data_folder import open_data_folder
from functions.local.database import Database, open_database
from functions.local.http_server import build_app, build_url, is_public, listen, serve
from functions.local.private_network import start_relay
from functions.local.settings import VARIABLES, LocalSettings, StartupError
from functions.local.sign_in import SignIn
from functions.platform.observability import logger

_ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Serve until a signal asks to stop, and return the process's exit code."""
    _refuse_arguments()
    for signal_number in (signal.SIGINT, signal.SIGTERM):  # background shells ignore SIGINT
        signal.signal(signal_number, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # nohup ignores it
        signal.signal(signal.SIGHUP, _terminate)
    # A terminal shows warnings only, unless the user asks for more.
    logger.setLevel(os.environ.setdefault("POWERTOOLS_LOG_LEVEL", "WARNING"))
    os.umask(0o077)  # every file holds memory or keys
    try:
        settings = LocalSettings.from_env()
        # The process reaches its models from the private network that it will be in.
        urls = {settings.learning_url, settings.embedding_url}
        relays = {url: start_relay(url) for url in urls if url and sys.platform == "linux"}
        _run(settings, relays)
    except KeyboardInterrupt:
        return 0
    except StartupError as error:
        print(f"agent-memory: {error}", file=sys.stderr)
        return 1
    return 0


def _refuse_arguments() -> None:
    names = "\n  ".join(VARIABLES.values())
    argparse.ArgumentParser(
        usage="agent-memory-runtime [--help]; settings are environment variables",
        description="Run Agent Memory on this machine until Ctrl-C.",
        epilog=f"Set it by environment variables:\n  {names}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    ).parse_args()


def _terminate(*_arguments: object) -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def _run(settings: LocalSettings, relays: Mapping[str, str]) -> None:
    with ExitStack() as stack:
        folder = stack.enter_context(open_data_folder(settings.data))
        # The socket stays in the clients' network; opening the database leaves that network.
        listener = stack.enter_context(listen(settings.host, settings.port))
        database = stack.enter_context(open_database(settings, folder, _ROOT))
        container = build_container(settings, folder, relays)
        api_key, key_works = prepare(container, folder)
        url = build_url(listener)
        folder.write(ADDRESS_FILE, url)
        warnings = _list_warnings(database, is_public=is_public(listener))
        sign_in = SignIn(api_key)
        console = f"{url}/console?code={sign_in.code}" if key_works else f"{url}/console"
        facts = {
            "address": url,
            "console": console,
            "data folder": folder.path,
            "database": database.description,
            "API key": api_key,
        }
        file = folder.path / API_KEY_FILE
        rotated = f"This API key was rotated or revoked; put a valid one into {file}."
        notes = [*(f"WARNING: {each}" for each in warnings), *([] if key_works else [rotated])]
        greeting = _render_greeting(facts, notes, _render_commands(url, api_key))
        app = build_app(container, sign_in, partial(print, greeting, flush=True))
        stack.enter_context(run_background_tasks(settings, folder, database, container))
        if database.engine is not None:
            database.engine.watch(_terminate)
        with suppress(KeyboardInterrupt):  # uvicorn raises the signal again when it has stopped
            serve(app, listener)
        if database.engine is not None and database.engine.has_failed:
            raise StartupError("the embedded database has stopped; start again, nothing is lost")


def _list_warnings(database: Database, *, is_public: bool) -> Iterator[str]:
    if database.is_simulated:
        yield (
            "the embedded database has no build for this platform. A slower one with a journal "
            "replaces it; every acknowledged write is kept."
        )
    if not database.is_private:
        yield (
            "this platform can't isolate the embedded database: other users of this machine, "
            "and web pages in your browser, can read and write everything in it."
        )
    if is_public:
        yield (
            "other machines can reach this address, and keys and memory are sent over the network "
            "unencrypted; put a proxy with TLS in front."
        )


def _render_greeting(facts: Mapping[str, object], notes: Iterable[str], commands: str) -> str:
    lines = [f"  {name:<12} {value}" for name, value in facts.items()]
    separated = [line for note in notes for line in (note, "")]
    return "\n".join(["agent-memory is ready", *lines, "", *separated, "Try it:", "", commands, ""])


def _render_commands(url: str, api_key: str) -> str:
    """Render two shell commands: one stores a memory about a user, the other finds it."""
    head = f"-H 'X-API-Key: {api_key}' -H 'Content-Type: application/json'"
    return f"""\
curl -sS {url}/api/v1/remember {head} \\
  -d '{{"text": "Ada pays by invoice", "user_id": "ada"}}'

curl -sS {url}/api/v1/recall {head} \\
  -d '{{"query": "How does Ada pay?", "wait": "indexed"}}'"""


if __name__ == "__main__":
    sys.exit(main())
