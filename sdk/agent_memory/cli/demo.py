"""The command `demo`: a small team of agents at work, with something of every kind of memory.

A coordinator plans the month's invoices. A reader extracts them, hands over in the middle to a
checker, and both leave what they learned.
"""

from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from agent_memory import Client
from agent_memory.cli.arguments import add_command, parse_count
from agent_memory.cli.columns import show
from agent_memory.cli.demo_learning import PORT, run_learning
from agent_memory.cli.failures import CONFLICT, Failure
from agent_memory.cli.progress import Progress
from agent_memory.cli.session import Session
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import MemoryPolicyFields, PrincipalKind
from agent_memory.openwop import MemoryAdapter

_TEAM: dict[str, PrincipalKind] = {
    "planner": "coordinator",
    "reader": "agent",
    "checker": "agent",
    "auditor": "user",
}
_INTENT, _TYPE = "close-the-month", "invoice-reader"
_TYPES = {"reader": _TYPE, "checker": "invoice-checker"}
_CUSTOMER = "customer-7"
_INVOICES = (
    ("INV-1041", "Acme GmbH", 1250.0),
    ("INV-1042", "Globex SA", 310.5),
    ("INV-1043", "Initech Ltd", 9800.0),
)


def add_commands(commands: Any) -> None:
    """Add the command `demo`."""
    command = add_command(commands, "demo", "write a team of agents at work, to look at", run_demo)
    command.add_argument(
        "--learn", action="store_true", help="learn from a conversation instead, without a model"
    )
    command.add_argument(
        "--port", type=parse_count, default=PORT, help=f"of the recorded model; {PORT}"
    )


def run_demo(session: Session) -> None:
    """`demo`: writes the team's memory, once in a tenant; the key needs `memory.admin`."""
    if session.arguments.learn:
        run_learning(session, session.arguments.port)
        return
    with ExitStack() as stack:
        team = {
            name: stack.enter_context(_join(session.client, name, kind))
            for name, kind in _TEAM.items()
        }
        planner, reader, checker = team["planner"], team["reader"], team["checker"]
        steps: tuple[Callable[[], None], ...] = (
            lambda: _share_policies(session.client, planner),
            lambda: _work(planner, reader, checker),
            lambda: _talk(reader),
            lambda: _log_runs(reader),
            lambda: _learn(checker),
            lambda: _store_files(planner, reader),
            lambda: _replay(checker),
            lambda: _replay(session.client),
        )
        with Progress("demo", unit="steps") as progress:
            for count, step in enumerate(steps, 1):
                step()
                progress.reached(count, count / len(steps))
    url = session.client.settings.server_url
    show(
        session,
        {
            "principals": ", ".join(_TEAM),
            "console": f"{url}/console",
            "next": "agent-memory search 'who checks large invoices'",
        },
    )


def _join(admin: Client, name: str, kind: PrincipalKind) -> Client:
    """Make a principal of the team; return a client under its key."""
    try:
        made = admin.principals.create(name, kind, agent_type=_TYPES.get(name))
    except MemoryConflictError as error:
        raise Failure(
            f"the tenant has a principal {name} already; a demo is written once, into a tenant "
            f"without one. Look at it: {admin.settings.server_url}/console",
            CONFLICT,
        ) from error
    return Client(admin.settings.server_url, made.api_key, timeout=admin.settings.timeout)


def _share_policies(admin: Client, planner: Client) -> None:
    """Write what all know, in namespaces with permissions, and a limit; all of it is audited."""
    admin.namespaces.set_permissions(
        "policies", default="read", allow={"planner": "admin", "checker": "write"}
    )
    admin.namespaces.set_permissions("salaries", default="none", allow={"auditor": "read"})
    admin.agents.configure("reader", capacity=2000, pinned_namespaces=["lessons"])
    admin.agents.set_guardrails(
        "planner", max_working_memory_per_task=80, denied_semantic_namespaces=["salaries"]
    )
    admin.principals.update("auditor", permissions=["memory.read"])
    semantic: Any = {"memory_type": "semantic"}
    planner.memory.put(
        "policies", "large-invoices", {"text": "The checker sees all above 5,000 EUR"}, **semantic
    )
    planner.memory.put("policies", "currency", {"text": "Book in EUR"}, tags=["books"], **semantic)
    planner.memory.set(
        "policies", "currency", {"text": "Book in EUR, rates of the ECB"}, **semantic
    )


def _work(planner: Client, reader: Client, checker: Client) -> None:
    """Register tasks, work on them, hand one over, end another."""
    policy: MemoryPolicyFields = {"max_entries": 50, "archive_on_completion": True}
    for number, (task, agent) in enumerate(
        (("read-invoices", "reader"), ("check-invoices", "reader"), ("report", "checker"))
    ):
        planner.tasks.create(
            _INTENT,
            id=f"task_{task}",
            name=task.replace("-", " ").capitalize(),
            assigned_agent=agent,
            memory_policy=policy,
            priority=number,
            semantic_namespaces=["policies"],
        )
    for number, (invoice, customer, total) in enumerate(_INVOICES, 1):
        value = {"customer": customer, "total": total, "currency": "EUR"}
        reader.memory.put("invoices", invoice, value, task_id="task_read-invoices", tags=["q3"])
        reader.memory.set(
            "invoices", "progress", {"completed": number}, task_id="task_check-invoices"
        )
    planner.tasks.complete("task_read-invoices", {"invoices": len(_INVOICES)})
    checked = planner.tasks.get("task_check-invoices")
    planner.tasks.update(
        checked.id, version=checked.version, assigned_agent="checker", status="running"
    )
    checker.memory.put("invoices", "INV-1043", {"approved": True}, task_id=checked.id)
    checker.tasks.grant(checked.id, "reader", "read")


def _talk(reader: Client) -> None:
    """Store a conversation with a customer, and what is kept for that customer."""
    said = [
        ("user", "Did you get invoice INV-1042?"),
        ("assistant", "Yes. It is booked with 310.50 EUR."),
        ("user", "Please send confirmations in French from now on."),
    ]
    messages = [{"role": role, "content": content} for role, content in said]
    reader.conversations.put(
        "session-invoices", _CUSTOMER, messages, tags=["billing"], shared_with=["planner"]
    )
    reader.states.put("reader", _CUSTOMER, "language", "fr")


def _log_runs(reader: Client) -> None:
    """Log a run that went well and one that failed, with lessons in episodic memory."""
    run = reader.runs.start(_TYPE, instance_id="reader-1", input={"folder": "2026-10"})
    for turn, (invoice, _customer, total) in enumerate(_INVOICES, 1):
        found = {"tool": "ocr", "invoice": invoice, "total": total}
        reader.runs.append(run.id, found, kind="tool_call", turn=turn)
    reader.runs.complete(run.id, {"read": len(_INVOICES)})
    failed = reader.runs.start(_TYPE, instance_id="reader-1", input={"folder": "2026-11"})
    reader.runs.append(failed.id, "The scan is upside down", kind="observation", turn=1)
    reader.runs.fail(failed.id, {"reason": "unreadable"})
    reader.working_values.put("reader-1", "page", 4)
    lessons = {"dates": "Globex writes dates day first", "scans": "Rotate a scan before OCR"}
    for key, text in lessons.items():
        reader.memory.put(
            "lessons", key, {"text": text}, memory_type="episodic", priority="high", tags=["ocr"]
        )
    reader.facts.learn(
        "Globex SA", "writes dates", "day first", confidence=0.9, learned_from_run_id=run.id
    )


def _learn(checker: Client) -> None:
    """Learn facts, and which way of checking works best."""
    checker.facts.learn("Acme GmbH", "pays within", "14 days", confidence=0.7)
    checker.facts.learn("Acme GmbH", "pays within", "14 days", confidence=0.95)
    checker.memory.put(
        "lessons", "rounding", {"text": "Totals differ by a cent"}, memory_type="episodic"
    )
    checker.memory.put("lessons", "guess", {"text": "VAT is 20 %"}, memory_type="episodic")
    checker.memory.delete("lessons", "guess")
    outcomes = {"four-eyes": (0.9, 1.0, 0.8), "totals-first": (0.4, 0.6)}
    for workflow, scores in outcomes.items():
        checker.procedures.put("invoice-checker", "check", workflow, {"steps": [workflow]})
        for score in scores:
            checker.procedures.record_outcome("invoice-checker", "check", workflow, score)


def _store_files(planner: Client, reader: Client) -> None:
    """Create a shared space, and store a file in it."""
    planner.objects.share("reports", {"reader": "write"})
    text = "invoice,total\n" + "\n".join(f"{name},{total}" for name, _, total in _INVOICES)
    reader.objects.put("reports", "2026/10.csv", text.encode(), content_type="text/csv")


def _replay(checker: Client) -> None:
    """Run once over a memory whose snapshot can be replayed, with a secret that isn't kept."""
    adapter = MemoryAdapter(checker)
    for note in ("paid with sk_live_0123456789", "closed the month"):
        with adapter.start("invoice-checker", secrets={"stripe": "sk_live_0123456789"}) as run:
            run.put(run.memory_ref, note)
