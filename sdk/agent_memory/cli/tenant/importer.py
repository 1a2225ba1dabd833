"""`import DIR`: writes what `export DIR` has written, with the same result however often it runs.

Each request has an Idempotency-Key of its content, so that a run that was cut off is started again:
what was written counts as done. What is private is written under its owner's key: principals that
are new here get keys, which `keys.jsonl` in the folder keeps (mode 0600) until you hand them out.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from pathlib import Path

from agent_memory import Client
from agent_memory.cli.failures import Failure, UsageFailure, render_message, to_exit_code
from agent_memory.cli.importing import Policy
from agent_memory.cli.output import note
from agent_memory.cli.progress import Progress
from agent_memory.cli.tenant.access_writer import AccessWriter
from agent_memory.cli.tenant.archives import TaskArchives
from agent_memory.cli.tenant.documents import read_documents, read_manifest
from agent_memory.cli.tenant.former_principals import FormerPrincipals
from agent_memory.cli.tenant.import_context import Document, ImportContext
from agent_memory.cli.tenant.import_state import ImportState
from agent_memory.cli.tenant.known_fields import FieldCheck
from agent_memory.cli.tenant.learned_writer import LearnedWriter
from agent_memory.cli.tenant.memory_writer import MemoryWriter
from agent_memory.cli.tenant.object_writer import ObjectWriter
from agent_memory.cli.tenant.task_history import TaskHistory
from agent_memory.cli.tenant.task_writer import TaskWriter
from agent_memory.exceptions import AgentMemoryError

_COMPLETE = "complete.jsonl"


class TenantImport:
    """One run of an import.

    Args:
        client: of a principal with all permissions, in the tenant that is written to.
        others: of principals that are there already, in whose names something is written.
        folder: what `export` wrote.
        policy: what happens where there is another entry.
        now: the server's time; what has expired by then is left out.

    Raises:
        UsageFailure: one of `others` is of another server or tenant.

    Attributes:
        counts: how many documents of each subject were written or found.
        was_complete: whether an earlier run has written everything, and this one nothing.
    """

    def __init__(
        self,
        client: Client,
        others: Sequence[Client],
        folder: Path,
        policy: Policy,
        now: datetime | None,
    ) -> None:
        self.counts: Counter[str] = Counter()
        self.was_complete = False
        self._folder = folder
        self._policy: Policy = policy
        tenant = client.principals.cached_me().tenant
        for each in others:
            _assert_same_tenant(client, each)
        self._fields = FieldCheck(note)
        self._state = ImportState(folder, client.settings.server_url, tenant)
        self._context = ImportContext(client, others, self._state, now)
        self._access = AccessWriter(self._context)
        self._memory = MemoryWriter(self._context, policy)
        self._learned = LearnedWriter(self._context)

    def run(self) -> None:
        """Write everything, in the order of its dependencies.

        Raises:
            UsageFailure: the folder holds no whole export.
            Failure: something is in the way; what comes before it is written.
        """
        files = read_manifest(self._folder)
        former = FormerPrincipals(self._context)
        with closing(self._context):
            self.was_complete = bool(self._state.read(_COMPLETE))
            if not self.was_complete:
                with self._access.hold_permission():
                    self._write(former, files)
                self._state.add(_COMPLETE, "", "")
            former.revoke()

    def _write(self, former: FormerPrincipals, files: list[str]) -> None:
        access, memory, learned = self._access, self._memory, self._learned
        entries = [self._folder / f"{name}.jsonl" for name in sorted(files)]
        entries = [file for file in entries if file.name.startswith("entries")]
        history = self._read_history(entries)
        tasks = TaskWriter(self._context, history, self._policy)
        objects = ObjectWriter(self._context)
        self._import("principals", access.write_principal)
        former.create(self._folder, history)
        self._import("agents", access.write_agent)
        self._import("namespaces", access.open_namespace)
        self._import("intents", access.write_intent)
        self._import("guardrails", access.require_archives)
        self._import("tasks", tasks.write_task)
        self._import("tasks", tasks.end_task)
        for file in entries:
            memory.write_entries(file, history.is_left, self.counts)
        self._import("archived", memory.write_archived)
        self._import("conversations", memory.write_conversation)
        self._import("states", memory.write_state)
        self._import("runs", learned.write_run)
        self._import("facts", learned.write_fact)
        self._import("working", learned.write_working_value)
        self._import("procedures", learned.write_workflow)
        self._import("spaces", objects.write_space)
        self._import("objects", objects.write_object)
        self._import("openwop", memory.write_openwop)
        self._import("namespaces", access.write_namespace)
        self._import("guardrails", access.write_guardrails)
        self._import("principals", access.take_permission)

    def _read_history(self, entries: list[Path]) -> TaskHistory:
        tasks = read_documents(self._folder / "tasks.jsonl")
        archives = TaskArchives(read_documents(self._folder / "events.jsonl"))
        if archives.unreadable:
            note(
                f"{archives.unreadable:,} entries of ended tasks were exported without their "
                "values, and are left out; export --with a key that reads them"
            )
        return TaskHistory(tasks, read_documents(self._folder / "audit.jsonl"), entries, archives)

    def find_file(self, name: str) -> Path | None:
        """Return a file of what the import has made; None if it has made none of it.

        Args:
            name: `KEYS` has the keys of new principals, `MEMORIES` the new references of OpenWOP
                memories.
        """
        file = self._state.folder / name
        return file if file.exists() else None

    def _import(self, name: str, write: Callable[[Document], None]) -> None:
        with Progress(f"import {name}") as progress:
            for count, document in enumerate(read_documents(self._folder / f"{name}.jsonl"), 1):
                self._fields.check(name, document)
                try:
                    write(document)
                except AgentMemoryError as error:
                    said = f"{name}, line {count}: {render_message(error)}"
                    raise Failure(said, to_exit_code(error)) from error
                self.counts[name] = count
                progress.reached(count, None)


def _assert_same_tenant(client: Client, other: Client) -> None:
    servers = {each.settings.server_url for each in (client, other)}
    tenants = {each.principals.cached_me().tenant for each in (client, other)}
    if len(servers) + len(tenants) > 2:
        id = other.principals.cached_me().id
        raise UsageFailure(f"the key of {id} is of another tenant or server than the import's")
