"""The commands on shared memory: namespaces, facts, runs, objects."""

import sys
from pathlib import Path
from typing import Any, get_args

from agent_memory.cli.arguments import (
    add_command,
    add_group,
    parse_confidence,
    parse_count,
    parse_number,
    parse_text,
    parse_time,
)
from agent_memory.cli.columns import select_columns, show
from agent_memory.cli.failures import Failure, UsageFailure
from agent_memory.cli.session import Session
from agent_memory.model import NamespaceAccess

_NAMESPACES = select_columns("namespace", "permissions.default", "permissions.allow", "version")
_FACTS = select_columns("fact_id", "subject", "predicate", "object", "confidence")
_RECALLED = select_columns("score", "subject", "predicate", "object", "matched")
_CHAIN = select_columns("valid_from", "valid_until", "subject", "predicate", "object")
_PREDICATES = select_columns("predicate")
_RUNS = select_columns("id", "agent_type", "instance_id", "status", "created_at")
_EPISODES = select_columns("id", "role", "kind", "content")
_SPACES = select_columns("space", "owner", "permissions.default", "permissions.allow")
_OBJECTS = select_columns("key", "size", "content_type", "version", "updated_at")
_FILTERS = ("subject", "predicate", "learned_from_run_id", "agent_type", "user_id")
_OPTIONS = {"learned_from_run_id": "--run", "user_id": "--user"}


def add_commands(commands: Any) -> None:
    """Add the commands `namespaces`, `facts`, `runs` and `objects`."""
    _add_namespaces(commands)
    _add_facts(commands)
    _add_runs(commands)
    _add_objects(commands)


def _add_namespaces(commands: Any) -> None:
    each = add_group(commands, "namespaces", "list namespaces, set their permissions")
    add_command(each, "list", "list the namespaces of semantic memory", list_namespaces)
    command = add_command(each, "show", "show a namespace's permissions", show_namespace)
    command.add_argument("namespace", metavar="NAME", type=parse_text)
    command = add_command(each, "set", "change a namespace's permissions", set_namespace)
    command.add_argument("namespace", metavar="NAME", type=parse_text, help="`users/*`: a prefix")
    command.add_argument(
        "--default",
        choices=get_args(NamespaceAccess),
        help="access of principals that are not listed",
    )
    command.add_argument(
        "--allow", action="append", metavar="ID=ACCESS", type=_parse_allow, help="may be repeated"
    )
    command.add_argument(
        "--history-days", type=parse_number, help="days for which earlier values are kept"
    )
    command.add_argument("--version", type=parse_count, help="change only this version")


def _parse_allow(given: str) -> tuple[str, str]:
    agent, _, level = given.rpartition("=")
    if not agent or level not in get_args(NamespaceAccess):
        raise UsageFailure(
            f"--allow must be ID=ACCESS; ACCESS is {', '.join(get_args(NamespaceAccess))}"
        )
    return agent, level


def list_namespaces(session: Session) -> None:
    """`namespaces list`: the namespaces that the caller has access to."""
    session.output.documents(session.client.namespaces.list(), *_NAMESPACES)


def show_namespace(session: Session) -> None:
    """`namespaces show`: one namespace."""
    show(session, session.client.namespaces.get(session.arguments.namespace))


def set_namespace(session: Session) -> None:
    """`namespaces set`: changes the given permissions and history."""
    given, client = session.arguments, session.client.namespaces
    default: Any = {} if given.default is None else {"default": given.default}
    version, days, changed = given.version, given.history_days, None
    if days is not None:
        changed = client.set_history(given.namespace, days, version=version)
        version = version and changed.version
    if changed is None or default or given.allow:
        changed = client.set_permissions(
            given.namespace, allow=dict(given.allow or ()), version=version, **default
        )
    show(session, changed)


def _add_facts(commands: Any) -> None:
    each = add_group(commands, "facts", "learn, recall and delete facts")
    command = add_command(each, "learn", "learn a fact", learn)
    for name in ("subject", "predicate", "object"):
        command.add_argument(name, metavar=name.upper(), type=parse_text)
    command.add_argument(
        "--confidence",
        type=parse_confidence,
        default=1.0,
        help="the confidence, from 0 to 1; 1 by default",
    )
    command.add_argument(
        "--run", dest="run_id", metavar="ID", type=parse_text, help="the run that learned it"
    )
    command.add_argument(
        "--replace", action="store_true", help="end other facts with this subject and predicate"
    )
    command.add_argument("--user", metavar="ID", type=parse_text, help="the user whom it is about")
    command.add_argument(
        "--valid-from",
        metavar="TIME",
        type=parse_time,
        help="the start of its validity; now by default",
    )
    command.add_argument(
        "--valid-until", metavar="TIME", type=parse_time, help="the end of its validity"
    )
    command = add_command(each, "list", "list facts, newest first", list_facts)
    _add_filters(command)
    _add_as_of(command)
    command.add_argument("--limit", type=parse_count, help="the maximum number")
    command = add_command(each, "recall", "find facts by meaning, words and ids", recall)
    command.add_argument("query", metavar="QUERY", type=parse_text)
    _add_filters(command)
    _add_as_of(command)
    command.add_argument(
        "--limit", type=parse_count, default=5, help="the maximum number; 5 by default"
    )
    command = add_command(each, "predicates", "list the predicates with one value", list_predicates)
    command = add_command(each, "declare", "declare that a predicate has one value", declare)
    command.add_argument("predicate", metavar="PREDICATE", type=parse_text)
    command.add_argument("--several", action="store_true", help="allow several values again")
    command = add_command(
        each, "history", "list all facts with a fact's subject, predicate and user", show_chain
    )
    command.add_argument("fact", metavar="ID", type=parse_text)
    command = add_command(each, "forget", "delete a fact, or all that match", forget)
    command.add_argument("fact", metavar="ID", nargs="?", type=parse_text)
    _add_filters(command)


def _add_filters(command: Any) -> None:
    for name in _FILTERS:
        option = _OPTIONS.get(name) or f"--{name.replace('_', '-')}"
        command.add_argument(option, dest=name, metavar="TEXT", type=parse_text)


def _add_as_of(command: Any) -> None:
    command.add_argument(
        "--as-of", metavar="TIME", type=parse_time, help="recall facts that held at this time"
    )


def _filters(session: Session) -> dict[str, Any]:
    return {name: getattr(session.arguments, name) for name in _FILTERS}


def learn(session: Session) -> None:
    """`facts learn`: a fact, new or again."""
    given = session.arguments
    fact = session.client.facts.learn(
        given.subject,
        given.predicate,
        given.object,
        confidence=given.confidence,
        learned_from_run_id=given.run_id,
        replaces="same_subject_predicate" if given.replace else None,
        user_id=given.user,
        valid_from=given.valid_from,
        valid_until=given.valid_until,
    )
    show(session, fact)


def list_facts(session: Session) -> None:
    """`facts list`: the matching facts."""
    given = session.arguments
    found = session.client.facts.query(limit=given.limit, as_of=given.as_of, **_filters(session))
    session.output.documents(found, *_FACTS)


def show_chain(session: Session) -> None:
    """`facts history`: the facts of one subject and predicate, latest first."""
    chain = session.client.facts.history(session.arguments.fact)
    session.output.documents(chain, *_CHAIN)


def recall(session: Session) -> None:
    """`facts recall`: the best facts for a query."""
    given = session.arguments
    found = session.client.facts.recall(
        given.query, top_k=given.limit, as_of=given.as_of, **_filters(session)
    )
    session.output.documents(found, *_RECALLED)


def list_predicates(session: Session) -> None:
    """`facts predicates`: the single-valued predicates."""
    found = session.client.facts.single_valued()
    session.output.documents(({"predicate": each} for each in found), *_PREDICATES)


def declare(session: Session) -> None:
    """`facts declare`: a predicate has one value at a time, or several."""
    given = session.arguments
    session.client.facts.declare(given.predicate, single_valued=not given.several)
    show(session, {"predicate": given.predicate, "single_valued": not given.several})


def forget(session: Session) -> None:
    """`facts forget`: one fact by its id, or all matching ones."""
    fact = session.arguments.fact
    if fact is None:
        show(session, {"forgotten": session.client.facts.forget_all(**_filters(session))})
        return
    if not session.client.facts.forget(fact):
        raise Failure(f"there is no fact {fact}; agent-memory facts list shows them")
    show(session, {"forgotten": 1})


def _add_runs(commands: Any) -> None:
    each = add_group(commands, "runs", "list and show runs of agents")
    command = add_command(each, "list", "list runs, newest first", list_runs)
    for name in ("agent-type", "instance-id", "status"):
        command.add_argument(f"--{name}", type=parse_text)
    command.add_argument("--limit", type=parse_count, help="the maximum number")
    command = add_command(each, "show", "show a run", show_run)
    command.add_argument("run_id", metavar="ID", type=parse_text)
    command = add_command(each, "episodes", "list the episodes of a run", list_episodes)
    command.add_argument("run_id", metavar="ID", type=parse_text)
    command = add_command(each, "rm", "delete a run with its episodes", remove_run)
    command.add_argument("run_id", metavar="ID", type=parse_text)


def list_runs(session: Session) -> None:
    """Run `runs list`: list the runs that match, without their values."""
    given = session.arguments
    found = session.client.runs.query(
        agent_type=given.agent_type,
        instance_id=given.instance_id,
        status=given.status,
        values=session.output.json,
        limit=given.limit,
    )
    session.output.documents(found, *_RUNS)


def show_run(session: Session) -> None:
    """Run `runs show`: show one run."""
    show(session, session.client.runs.get(session.arguments.run_id))


def list_episodes(session: Session) -> None:
    """Run `runs episodes`: list a run's episodes."""
    session.output.documents(
        session.client.runs.list_episodes(session.arguments.run_id), *_EPISODES
    )


def remove_run(session: Session) -> None:
    """Run `runs rm`: delete a run."""
    run = session.arguments.run_id
    if not session.client.runs.delete(run):
        raise Failure(f"there is no run {run}; agent-memory runs list shows them")
    show(session, {"deleted": run})


def _add_objects(commands: Any) -> None:
    each = add_group(commands, "objects", "store files under keys")
    command = add_command(each, "list", "list spaces, or the objects of a space", list_objects)
    command.add_argument("space", metavar="SPACE", nargs="?", type=parse_text)
    command.add_argument("--prefix", type=parse_text, help="only keys with this prefix")
    command = add_command(each, "put", "store a file", put_object)
    _add_place(command)
    command.add_argument("file", metavar="FILE", type=parse_text, help="- for stdin")
    command.add_argument("--content-type", type=parse_text, default="application/octet-stream")
    command = add_command(each, "get", "write an object to a file or to stdout", get_object)
    _add_place(command)
    command.add_argument("-o", "--output", metavar="FILE", type=parse_text)
    _add_place(add_command(each, "rm", "delete an object", remove_object))


def _add_place(command: Any) -> None:
    command.add_argument("space", metavar="SPACE", type=parse_text)
    command.add_argument("key", metavar="KEY", type=parse_text)


def list_objects(session: Session) -> None:
    """`objects list`: the spaces, or the objects of one."""
    given = session.arguments
    if given.space is None:
        session.output.documents(session.client.objects.list_spaces(), *_SPACES)
    else:
        session.output.documents(
            session.client.objects.list(given.space, given.prefix or ""), *_OBJECTS
        )


def put_object(session: Session) -> None:
    """`objects put`: stores a file."""
    given = session.arguments
    try:
        data = sys.stdin.buffer.read() if given.file == "-" else Path(given.file).read_bytes()
    except OSError as error:
        raise UsageFailure(f"can't read {given.file}: {error.strerror}") from error
    version = session.client.objects.put(
        given.space, given.key, data, content_type=given.content_type
    )
    show(session, {"space": given.space, "key": given.key, "version": version})


def get_object(session: Session) -> None:
    """`objects get`: the bytes of an object."""
    given = session.arguments
    found = session.client.objects.get(given.space, given.key)
    if found is None:
        raise Failure(f"there is no object {given.space} / {given.key}; see objects list")
    if given.output in (None, "-"):
        sys.stdout.buffer.write(found.data)
        return
    try:
        Path(given.output).write_bytes(found.data)
    except OSError as error:
        raise UsageFailure(f"can't write {given.output}: {error.strerror}") from error


def remove_object(session: Session) -> None:
    """`objects rm`: deletes an object."""
    given = session.arguments
    if not session.client.objects.delete(given.space, given.key):
        raise Failure(f"there is no object {given.space} / {given.key}; see objects list")
    show(session, {"deleted": f"{given.space} / {given.key}"})
