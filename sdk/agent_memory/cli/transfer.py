"""The commands `export` and `import`: entries as JSON Lines, one at a time."""

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, BinaryIO, get_args

from agent_memory import Client
from agent_memory.cli.arguments import add_command, parse_text
from agent_memory.cli.connection import connect, parse_document, select_profile
from agent_memory.cli.entries import add_filters, filters
from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.importing import OUTCOMES, Import, Policy
from agent_memory.cli.lines import Line, read_lines
from agent_memory.cli.output import note
from agent_memory.cli.private_files import open_replacement
from agent_memory.cli.progress import Progress
from agent_memory.cli.session import Session
from agent_memory.cli.spool import Spool
from agent_memory.cli.tenant.documents import add_vector
from agent_memory.cli.tenant.exporter import TenantExport
from agent_memory.cli.tenant.importer import TenantImport
from agent_memory.cli.tenant.reader import TenantReader
from agent_memory.cli.text import render_json_line
from agent_memory.model import Document

_PAGE = 200
_CUT_OFF = "interrupted; the same command continues"


def add_commands(commands: Any) -> None:
    """Add the commands `export` and `import`."""
    command = add_command(commands, "export", "export all data, or only entries", export)
    command.add_argument(
        "folder",
        metavar="DIR",
        nargs="?",
        type=parse_text,
        help="a folder for everything that the tenant has; without it entries, as JSON Lines",
    )
    _add_profiles(command, "also what this profile's key may read")
    add_filters(command)
    command.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=parse_text,
        help="the file to write; it is replaced when the export is complete",
    )
    command = add_command(commands, "import", "import an export", import_entries)
    _add_profiles(command, "write the private memory of this profile's principal")
    command.add_argument(
        "file",
        metavar="FILE|DIR",
        nargs="?",
        default="-",
        type=parse_text,
        help="the file or folder to read; stdin by default",
    )
    command.add_argument(
        "--on-conflict",
        choices=get_args(Policy),
        default="fail",
        help="what to do if another entry exists",
    )
    command.add_argument(
        "--reassign", action="store_true", help="import other agents' private entries as your own"
    )


def _add_profiles(command: Any, meaning: str) -> None:
    """Add `--with` for further profiles."""
    command.add_argument(
        "--with",
        dest="others",
        action="append",
        metavar="PROFILE",
        type=parse_text,
        help=f"with DIR: {meaning}; may be repeated",
    )


def export(session: Session) -> None:
    """`export`: everything into a folder; else entries, optionally filtered, oldest first."""
    if session.arguments.folder is not None:
        _export_tenant(session)
        return
    file = session.arguments.output
    written = 0
    with _target(file) as target, Progress("export") as progress:
        entries = Spool(_read_entries(session, progress))
        for count, entry in enumerate(entries, 1):
            for whole in add_vector(session.client, entry):
                target.write(f"{render_json_line(whole)}\n".encode())
                written += 1
            progress.reached(count, count / len(entries))
    note(f"exported {written:,} entries" + (f" to {file}" if file else ""))


def _read_entries(session: Session, progress: Progress) -> Iterator[Document]:
    """Yield matching entries, newest first."""
    found = session.client.memory.query(page_size=_PAGE, **filters(session.arguments))
    for count, entry in enumerate(found, 1):
        progress.reached(count, None)
        yield entry.raw


def _export_tenant(session: Session) -> None:
    given = session.arguments
    if given.output is not None or filters(given):
        raise UsageFailure("an export into a folder has everything; leave out -o and filters")
    folder = Path(given.folder)
    with _connect_others(session) as others:
        reader = TenantReader([session.client, *others])
        counts = TenantExport(reader, folder).run()
    note(f"exported {sum(counts.values()):,} documents to {folder}; import it by: import {folder}")
    if session.output.json:
        session.output.lines([render_json_line(counts)])


@contextmanager
def _connect_others(session: Session) -> Iterator[list[Client]]:
    """Yield clients of the profiles in `--with`."""
    given = session.arguments
    profiles = [select_profile(name, os.environ) for name in given.others or ()]
    with ExitStack() as stack:
        yield [stack.enter_context(connect(each, given.timeout)) for each in profiles]


def _import_tenant(session: Session) -> None:
    with _connect_others(session) as others:
        _import_with(session, others)


def _import_with(session: Session, others: list[Client]) -> None:
    given = session.arguments
    now = _server_time(session.client)
    run = TenantImport(session.client, others, Path(given.file), given.on_conflict, now)
    try:
        run.run()
    except KeyboardInterrupt:
        note(_CUT_OFF)
        raise
    finally:
        parts = [f"{count:,} {name}" for name, count in run.counts.items() if count]
        note(f"import: {', '.join(parts) or 'nothing written'}")
    if session.output.json:
        session.output.lines([render_json_line(run.counts)])


@contextmanager
def _target(file: str | None) -> Iterator[BinaryIO]:
    """Yield the target of an export: stdout, or a file that is written completely or not at all."""
    if file is None or file == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    path = Path(file).resolve()
    try:
        if path.exists() and not stat.S_ISREG(path.stat().st_mode):
            with path.open("wb") as device:
                yield device
            return
        with open_replacement(path) as opened:
            yield opened
    except OSError as error:
        raise UsageFailure(f"can't write {file}: {error.strerror}") from error


def import_entries(session: Session) -> None:
    """`import`: writes the entries of a file or of stdin; see `Import`."""
    given = session.arguments
    if Path(given.file).is_dir():
        _import_tenant(session)
        return
    if given.others:
        raise UsageFailure("--with needs a folder")
    run = Import(session.client, given.on_conflict, _server_time(session.client))
    with _source(given.file) as source:
        try:
            _import(run, source, reassign=given.reassign)
        except KeyboardInterrupt:
            note(_CUT_OFF)
            raise
        finally:
            note(f"import: {_report(run.counts)}")
    if session.output.json:
        session.output.lines([render_json_line(run.counts)])


def _import(run: Import, source: BinaryIO, *, reassign: bool) -> None:
    lines = read_lines(source, note)
    with Progress("import") as progress:
        run.run(
            map(_without_owner, lines) if reassign else lines,
            lambda: progress.reached(run.counts.total(), _share(source)),
        )


def _server_time(client: Client) -> datetime | None:
    """Return the server's time, if sent; a wrong key is rejected here, before any write."""
    answer = client.request("GET", "/api/v1/me")
    parse_document(answer, "id")
    date = answer.headers.get("date")
    return None if date is None else parsedate_to_datetime(date)


@contextmanager
def _source(file: str) -> Iterator[BinaryIO]:
    if file == "-":
        yield sys.stdin.buffer
        return
    with _open_file(Path(file)) as opened:
        yield opened


def _open_file(file: Path) -> BinaryIO:
    try:
        return file.open("rb")
    except OSError as error:
        raise UsageFailure(f"can't read {file}: {error.strerror}") from error


def _share(source: BinaryIO) -> float | None:
    """Return the share of a file that was read; None for a pipe."""
    status = os.fstat(source.fileno())
    if not stat.S_ISREG(status.st_mode):
        return None
    return source.tell() / max(status.st_size, 1)


def _without_owner(line: Line) -> Line:
    body = {name: each for name, each in line.body.items() if name != "agent_id"}
    return replace(line, body=body)


def _report(counts: Counter[str]) -> str:
    parts = [f"{counts[name]:,} {name}" for name in OUTCOMES if counts[name]]
    return ", ".join(parts) or "nothing written"
