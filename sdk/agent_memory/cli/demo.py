"""The command `demo`: a support team with three customers, over two months.

A coordinator leads two agents. They talk with customers, remember and learn, and hand tasks over.
The result has every kind of memory.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from typing import Any, cast

from agent_memory import Client
from agent_memory.cli import demo_data as data
from agent_memory.cli.arguments import add_command, parse_count
from agent_memory.cli.columns import show
from agent_memory.cli.demo_learning import PORT, run_learning
from agent_memory.cli.failures import CONFLICT, Failure
from agent_memory.cli.progress import Progress
from agent_memory.cli.session import Session
from agent_memory.exceptions import MemoryConflictError
from agent_memory.model import NamespaceAccess, PrincipalKind
from agent_memory.openwop import MemoryAdapter

_NOW = datetime.now(UTC)  # noqa: TID251 - the demo ends when it is written
_WRITERS = 4
_References = dict[tuple[str, int | str], str]  # of memories, lessons, and facts, by their owners
_ALL: dict[str, NamespaceAccess] = {"lead": "write", "frontline": "write", "billing": "write"}


def add_commands(commands: Any) -> None:
    """Add the command `demo`."""
    command = add_command(
        commands, "demo", "fill the service with an example: a support team", run_demo
    )
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
            name: stack.enter_context(_join(session.client, name, cast("PrincipalKind", kind)))
            for name, kind in data.TEAM.items()
        }
        admin, lead = session.client, team["lead"]
        frontline, billing = team["frontline"], team["billing"]
        known: _References = {}
        steps: tuple[Callable[[], None], ...] = (
            lambda: _share(admin, lead, known),
            lambda: _remember(frontline, billing, known),
            lambda: _learn(admin, frontline, billing, _log_runs(frontline), known),
            lambda: _talk(frontline, billing, known),
            lambda: _work(admin, team),
            lambda: _store_files(lead, frontline),
            lambda: _replay(billing),
            lambda: _replay(admin),
        )
        with Progress("demo", unit="steps") as progress:
            for count, step in enumerate(steps, 1):
                step()
                progress.reached(count, count / len(steps))
    url = session.client.settings.server_url
    show(
        session,
        {
            "people": ", ".join(data.CUSTOMERS),
            "principals": ", ".join(data.TEAM),
            "console": f"{url}/console",
            "next": "agent-memory recall 'what did we promise Ada'",
        },
    )


def _join(admin: Client, name: str, kind: PrincipalKind) -> Client:
    """Create a principal of the team; return a client with its key."""
    try:
        made = admin.principals.create(name, kind, agent_type=data.TYPES.get(name))
    except MemoryConflictError as error:
        raise Failure(
            f"the tenant has a principal {name} already; a demo is written once, into a tenant "
            f"without one. Look at it: {admin.settings.server_url}/console",
            CONFLICT,
        ) from error
    return Client(admin.settings.server_url, made.api_key, timeout=admin.settings.timeout)


def _ago(days: float, minutes: float = 0) -> datetime:
    return _NOW - timedelta(days=days) + timedelta(minutes=minutes)


def _share(admin: Client, lead: Client, known: _References) -> None:
    """Open the memory of users to the team, and write shared memory; all of it is audited."""
    admin.namespaces.set_permissions("users/*", default="none", allow=_ALL)
    admin.namespaces.set_permissions("policies", default="read", allow={"lead": "admin"})
    admin.namespaces.set_permissions("payroll", default="none", allow={"auditor": "read"})
    admin.agents.configure("billing", capacity=data.BILLING_CAPACITY)
    admin.agents.configure("frontline", pinned_namespaces=["rules"])
    admin.agents.set_guardrails(
        "lead", max_working_memory_per_task=80, denied_semantic_namespaces=["payroll"]
    )
    admin.principals.update("auditor", permissions=["memory.read"])
    admin.strategies.put("preferences", "preferences", instructions=data.INSTRUCTIONS)
    for predicate in data.SINGLE_VALUED[:-1]:
        admin.facts.declare(predicate)
    policies = lead.memory.batch(
        {
            "namespace": "policies",
            "key": key,
            "value": {"text": text},
            "memory_type": "semantic",
            "tags": ["policy"],
            "occurred_at": _ago(61 - day).isoformat(),
        }
        for day, (key, text) in enumerate(data.POLICIES)
    )
    known.update((("lead", each.key), f"e.{each.id}") for each in policies)
    for key, text in data.CHANGES:
        lead.memory.put("policies", key, {"text": text}, memory_type="semantic", tags=["policy"])


def _talk(frontline: Client, billing: Client, known: _References) -> None:
    """Store the conversations with customers, and the states of each customer.

    Some answers name the memories that they use.
    """
    talks = [
        (topic, turns, person)
        for topic, turns in data.TALKS
        for person in data.CUSTOMERS
        if (topic, person) not in data.LEFT_OUT
    ]

    def store(number: int) -> None:
        topic, turns, person = talks[number]
        agent = billing if topic in data.BILLING_TOPICS else frontline
        messages = _to_messages(turns, person, 60 - number * 1.5)
        owners = (person, "lead", "billing" if agent is billing else "frontline")
        uses = [
            known[owner, each]
            for each in data.USES.get(topic, ())
            for owner in owners
            if (owner, each) in known
        ]
        messages[len(turns) // 2 * 2 - 1]["uses"] = uses
        agent.conversations.put(
            f"{person}-{topic}", person, messages, tags=[topic], shared_with=["lead"]
        )

    with ThreadPoolExecutor(_WRITERS) as writers:
        list(writers.map(store, range(len(talks))))
    for person, fields in data.CUSTOMERS.items():
        frontline.states.put("frontline", person, "language", fields["language"])


def _to_messages(turns: tuple[str, ...], person: str, start: float) -> list[dict[str, Any]]:
    fields = data.CUSTOMERS[person]
    return [
        {
            "role": ("user", "assistant")[turn % 2],
            "content": text.format(**fields),
            "timestamp": _ago(start, turn * 2).isoformat(),
        }
        for turn, text in enumerate(turns)
    ]


def _remember(frontline: Client, billing: Client, known: _References) -> None:
    """Store memories of each customer, and the agents' own; a full one evicts."""
    for person, fields in data.CUSTOMERS.items():
        memories = sorted((*data.MEMORIES, *data.OWN_MEMORIES[person]), reverse=True)
        entries = [
            {
                "namespace": f"users/{person}/memory",
                "key": f"{number:02}-{tag}",
                "value": {"text": text.format(**fields)},
                "memory_type": "semantic",
                "tags": [tag],
                "occurred_at": _ago(days).isoformat(),
            }
            for number, (days, text, tag) in enumerate(memories)
        ]
        money = [each for each in entries if each["tags"] == ["billing"]]
        others = [each for each in entries if each not in money]
        for entry in (*billing.memory.batch(money), *frontline.memory.batch(others)):
            known[person, memories[int(entry.key[:2])][0]] = f"e.{entry.id}"
    lessons = frontline.memory.batch(_to_lessons("frontline"))
    for lesson in _to_lessons("billing"):  # one by one, so that the oldest are evicted
        lessons += billing.memory.batch([lesson])
    known.update(((each.agent_id, each.key), f"e.{each.id}") for each in lessons)


def _to_lessons(agent: str) -> list[dict[str, Any]]:
    return [
        {
            "namespace": "rules" if number < 2 else "lessons",
            "key": key,
            "value": {"text": text},
            "memory_type": "episodic",
            "priority": "high" if number % 5 == 0 else "normal",
            "tags": ["lesson"],
            "occurred_at": _ago(56 - number * 3).isoformat(),
        }
        for number, (key, text) in enumerate(data.LESSONS[agent])
    ]


def _log_runs(frontline: Client) -> str:
    """Log a run that went well and one that failed; return the id of the first."""
    kind = data.TYPES["frontline"]
    run = frontline.runs.start(kind, instance_id="frontline-1", input={"topic": "slow line"})
    for turn, (what, text) in enumerate(data.EPISODES, 1):
        frontline.runs.append(run.id, text, kind=what, turn=turn)
    frontline.runs.complete(run.id, {"solved": True})
    failed = frontline.runs.start(kind, instance_id="frontline-1", input={"topic": "move"})
    frontline.runs.append(failed.id, "The address register did not answer", turn=1)
    frontline.runs.fail(failed.id, {"reason": "the address register did not answer"})
    frontline.working_values.put("frontline-1", "open tickets", 4)
    return str(run.id)


def _learn(admin: Client, frontline: Client, billing: Client, run: str, known: _References) -> None:
    """Learn facts, some of which changed and two conflict, and the best way of working."""
    for person, fields in data.CUSTOMERS.items():
        frontline.facts.learn_all(
            {
                "subject": fields["name"],
                "predicate": predicate,
                "object": text.format(**fields),
                "user_id": person,
                "confidence": 0.7 + days % 4 / 10,
                "valid_from": _ago(days).isoformat(),
                "agent_type": "support",
            }
            for days, predicate, text in data.FACTS
            if (predicate, days) not in data.LATER
        )
        for days, predicate, text in (each for each in data.FACTS if each[1::-1] in data.LATER):
            fact = frontline.facts.learn(
                fields["name"],
                predicate,
                text.format(**fields),
                user_id=person,
                confidence=0.95,
                valid_from=_ago(days),
                agent_type="support",
            )
            known[person, predicate] = f"f.{fact.fact_id}"
    for days, subject, predicate, text in data.SHARED_FACTS:
        for client in (frontline, billing)[: 1 + days % 2]:
            client.facts.learn(
                subject, predicate, text, valid_from=_ago(days), learned_from_run_id=run
            )
    subject, predicate, objects = data.CONFLICT
    for client, text in zip((frontline, billing), objects, strict=True):
        client.facts.learn(subject, predicate, text, user_id="chen", confidence=0.8)
    admin.facts.declare(predicate)
    for workflow, scores in data.OUTCOMES.items():
        frontline.procedures.put("support", "slow-line", workflow, {"steps": workflow.split("-")})
        for score in scores:
            frontline.procedures.record_outcome("support", "slow-line", workflow, score)


def _work(admin: Client, team: dict[str, Client]) -> None:
    """Register tasks, work on them, hand two over, and end some; the admin coordinates them."""
    for intent, name, agent, status in data.TASKS:
        task = admin.tasks.create(
            intent,
            id="task_" + name.lower().replace(" ", "-"),
            name=name,
            assigned_agent=agent,
            delegates=["frontline", "billing"],
            semantic_namespaces=["policies"],
            metadata={"progress": data.PROGRESS.get(status, 0)},
            memory_policy={"max_entries": 50, "archive_on_completion": True},
        )
        progress = {"text": f"{name}: half of it is done"}
        team[agent].memory.put("progress", name, progress, task_id=task.id)
        if name in data.HAND_OVERS:
            _hand_over(admin, team, task.id, *data.HAND_OVERS[name])
        elif status == "completed":
            admin.tasks.complete(task.id, {"text": f"{name}: done"})
        elif status == "failed":
            admin.tasks.fail(task.id, {"reason": "the billing run is locked"})
        elif status != "pending":
            reason = {"blocked_reason": "waits for the billing run"} if status == "blocked" else {}
            fields = cast("Any", {"status": status} | reason)
            admin.tasks.update(task.id, version=admin.tasks.get(task.id).version, **fields)


def _hand_over(
    admin: Client, team: dict[str, Client], task: str, giver: str, taker: str, note: str
) -> None:
    running = admin.tasks.get(task)
    admin.tasks.update(task, version=running.version, status="running")
    team[giver].hand_over(task, to=taker, note=note)
    text = {"text": f"{taker} goes on: {note}"}
    team[taker].memory.put("progress", f"next of {task}", text, task_id=task)
    team[taker].tasks.grant(task, "auditor", "read")


def _store_files(lead: Client, frontline: Client) -> None:
    """Create a shared space, and store a file in it."""
    lead.objects.share("reports", {"frontline": "write"})
    lines = [f"{fields['name']},{fields['refund']}" for fields in data.CUSTOMERS.values()]
    text = "customer,refund\n" + "\n".join(lines)
    frontline.objects.put("reports", "outage/refunds.csv", text.encode(), content_type="text/csv")


def _replay(client: Client) -> None:
    """Run once over a memory with a replayable snapshot, and with a secret that isn't stored."""
    adapter = MemoryAdapter(client)
    for note in ("refunded to card sk_live_0123456789", "closed the month"):
        with adapter.start("billing", secrets={"card": "sk_live_0123456789"}) as run:
            run.put(run.memory_ref, note)
