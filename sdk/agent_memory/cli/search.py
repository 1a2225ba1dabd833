"""The command `search`: finds entries by meaning, words and ids (RFC-0015 §4.3)."""

from typing import Any

from agent_memory.cli.arguments import TIERS, add_command, parse_count, parse_score, parse_text
from agent_memory.cli.failures import UsageFailure
from agent_memory.cli.formatting import RESULT_HEADINGS, render_result_row
from agent_memory.cli.json_arguments import read_json, read_vector
from agent_memory.cli.session import Session


def add_commands(commands: Any) -> None:
    """Add the command `search`."""
    command = add_command(commands, "search", "find entries by meaning, words and ids", search)
    command.add_argument("query", metavar="QUERY", nargs="?", type=parse_text)
    command.add_argument(
        "--vector", type=parse_text, help="a JSON array, or @FILE; it replaces the meaning of QUERY"
    )
    command.add_argument("--type", choices=TIERS, help="the tier; all tiers unless given")
    command.add_argument("--namespace", type=parse_text, help="`billing.*` is a prefix")
    command.add_argument(
        "--tag", action="append", type=parse_text, help="only those with this tag; may be repeated"
    )
    command.add_argument(
        "--fields",
        metavar="JSON",
        type=parse_text,
        help="a JSON object of search fields that values must have",
    )
    command.add_argument(
        "--agent", metavar="ID", type=parse_text, help="the principal; by default yourself"
    )
    command.add_argument(
        "--limit", type=parse_count, default=5, help="the maximum number; 5 by default"
    )
    command.add_argument("--min-score", type=parse_score, help="the lowest score")


def search(session: Session) -> None:
    """`search`: the best results, with scores and the matched words."""
    given = session.arguments
    found = session.client.memory.search(
        given.query,
        vector=read_vector(given.vector),
        fields=_fields(given.fields),
        memory_type=given.type,
        top_k=given.limit,
        min_score=given.min_score,
        namespace=given.namespace,
        agent_id=given.agent,
        tags=given.tag,
    )
    session.output.documents(found, RESULT_HEADINGS, render_result_row)


def _fields(given: str | None) -> dict[str, Any] | None:
    fields = None if given is None else read_json("--fields", given)
    if fields is not None and not isinstance(fields, dict):
        raise UsageFailure("""--fields must be a JSON object, such as '{"kind": "drink"}'""")
    return fields
