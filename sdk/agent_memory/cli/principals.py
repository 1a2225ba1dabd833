"""The commands on principals and their keys, agents' limits, access, the audit log, and usage."""

from typing import Any, get_args

from agent_memory.cli.arguments import add_command, parse_count, parse_number, parse_text
from agent_memory.cli.columns import select_columns, show
from agent_memory.cli.session import Session
from agent_memory.model import Permission, PrincipalKind
from agent_memory.requests import drop_none

_PRINCIPALS = select_columns("id", "kind", "permissions", "agent_type", "expires_at")
_AGENTS = select_columns("agent_id", "kind", "working", "episodic")
_EVICTION = select_columns("namespace", "key", "priority", "last_accessed_at", "id")
_AUDIT = select_columns("time", "actor.id", "action", "target", "request_id")
_USAGE = select_columns(
    "tenant", "day", "items", "bytes", "read_units", "write_units", "cost_usd", "limits"
)
_TARGETS = ("entry", "namespace", "task", "conversation")


def add_commands(commands: Any) -> None:
    """Add the commands `principals`, `agents`, `access`, `audit` and `usage`."""
    _add_principals(commands)
    _add_agents(commands)
    command = add_command(commands, "access", "explain who may read and write a resource", access)
    command.add_argument(
        "--principal", metavar="ID", type=parse_text, help="the principal; by default yourself"
    )
    target = command.add_mutually_exclusive_group(required=True)
    for name in _TARGETS:
        target.add_argument(f"--{name}", metavar="ID", type=parse_text)
    command = add_command(commands, "audit", "list the uses of authority, oldest first", audit)
    command.add_argument(
        "--actor", metavar="ID", type=parse_text, help="only uses by this principal"
    )
    command.add_argument("--action", metavar="NAME", type=parse_text, help="only this action")
    command.add_argument("--limit", type=parse_count, help="the maximum number")
    command = add_command(commands, "usage", "show the daily usage and storage", usage)
    command.add_argument(
        "--since", metavar="DAY", type=parse_text, help="the first day, such as 2026-11-24"
    )
    command.add_argument("--until", metavar="DAY", type=parse_text, help="the last day")


def _add_principals(commands: Any) -> None:
    group = add_command(commands, "principals", "create principals and keys", None)
    each = group.add_subparsers(dest="principals_command", required=True, metavar="COMMAND")
    add_command(each, "list", "list the principals", list_principals)
    add_command(each, "me", "show the principal of the key", show_me)
    command = add_command(
        each, "create", "create a principal, and print its key, which is never shown again", create
    )
    command.add_argument("id", metavar="ID", type=parse_text)
    command.add_argument("--kind", choices=get_args(PrincipalKind), default="agent")
    command.add_argument(
        "--reuse",
        action="store_true",
        default=None,
        help="take over the data of a revoked principal with this ID",
    )
    _add_choices(command)
    command = add_command(each, "update", "change the permissions of a principal", update)
    command.add_argument("id", metavar="ID", type=parse_text)
    _add_choices(command)
    for name, help_text, run in (
        ("rotate", "give a principal a new key, and revoke the old one", rotate),
        ("revoke", "revoke a principal's key and remove it", revoke),
    ):
        add_command(each, name, help_text, run).add_argument("id", metavar="ID", type=parse_text)


def _add_choices(command: Any) -> None:
    command.add_argument(
        "--permission", action="append", choices=get_args(Permission), help="may be repeated"
    )
    command.add_argument("--agent-type", metavar="NAME", type=parse_text)
    command.add_argument("--expires-at", metavar="TIME", type=parse_text)


def _add_agents(commands: Any) -> None:
    group = add_command(commands, "agents", "list agents, set their limits", None)
    each = group.add_subparsers(dest="agents_command", required=True, metavar="COMMAND")
    add_command(each, "list", "list the agents with the use of their memory", list_agents)
    command = add_command(
        each, "eviction", "list entries in the order of their eviction", list_eviction
    )
    command.add_argument(
        "agent", metavar="ID", nargs="?", type=parse_text, help="the principal; by default yourself"
    )
    command.add_argument("--limit", type=parse_count, help="the maximum number")
    command = add_command(each, "configure", "set an agent's limits", configure)
    command.add_argument("agent", metavar="ID", type=parse_text)
    command.add_argument(
        "--capacity", type=parse_count, help="the maximum number of episodic entries"
    )
    command.add_argument(
        "--max-entries",
        type=parse_count,
        help="the maximum number of working entries outside tasks",
    )
    command.add_argument(
        "--max-total-size-kb", type=parse_count, help="the maximum size of working memory"
    )
    command.add_argument(
        "--history-days",
        type=parse_number,
        help="days for which earlier values of episodic entries are kept",
    )


def list_principals(session: Session) -> None:
    """`principals list`: all of the tenant."""
    session.output.documents(session.client.principals.list(), *_PRINCIPALS)


def show_me(session: Session) -> None:
    """`principals me`: the principal of the key."""
    show(session, session.client.principals.me().raw)


def create(session: Session) -> None:
    """`principals create`: a principal with its key."""
    given = session.arguments
    made = session.client.principals.create(
        given.id, given.kind, permissions=given.permission, **_choices(session), reuse=given.reuse
    )
    show(session, made.raw)


def update(session: Session) -> None:
    """`principals update`: changes the given fields."""
    given = session.arguments
    changes = drop_none(permissions=given.permission) | _choices(session)
    show(session, session.client.principals.update(given.id, **changes).raw)


def _choices(session: Session) -> dict[str, Any]:
    given = session.arguments
    return drop_none(agent_type=given.agent_type, expires_at=given.expires_at)


def rotate(session: Session) -> None:
    """`principals rotate`: a new key."""
    show(session, session.client.principals.rotate(session.arguments.id).raw)


def revoke(session: Session) -> None:
    """`principals revoke`: its key stops."""
    session.client.principals.revoke(session.arguments.id)
    show(session, {"revoked": session.arguments.id})


def list_agents(session: Session) -> None:
    """`agents list`: the visible agents."""
    session.output.documents(session.client.agents.list(), *_AGENTS)


def list_eviction(session: Session) -> None:
    """`agents eviction`: an agent's episodic entries in the order of eviction."""
    given, client = session.arguments, session.client
    agent = given.agent or client.principals.me().id
    order = client.agents.list_eviction_order(agent, limit=given.limit)
    session.output.documents(order, *_EVICTION)


def configure(session: Session) -> None:
    """`agents configure`: sets the given limits."""
    given = session.arguments
    limits = drop_none(
        capacity=given.capacity,
        max_entries=given.max_entries,
        max_total_size_kb=given.max_total_size_kb,
        history_days=given.history_days,
    )
    show(session, session.client.agents.configure(given.agent, **limits).raw)


def access(session: Session) -> None:
    """`access`: whether a principal may read and write a resource, and by which rule."""
    given = session.arguments
    target = drop_none(**{name: getattr(given, name) for name in _TARGETS})
    show(session, session.client.principals.explain_access(given.principal, **target))


def audit(session: Session) -> None:
    """`audit`: the uses of authority."""
    given = session.arguments
    records = session.client.audit.list(actor=given.actor, action=given.action, limit=given.limit)
    session.output.documents(records, *_AUDIT)


def usage(session: Session) -> None:
    """`usage`: the tenant's daily usage; with the root key, of all tenants."""
    given = session.arguments
    found = session.client.tenants.get_usage(since=given.since, until=given.until)
    days = [
        {"tenant": of.tenant, **each.raw, "limits": of.limits.raw}
        for of in found
        for each in of.days
    ]
    session.output.documents(days, *_USAGE)
