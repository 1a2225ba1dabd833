"""Renders the events that AWS sends to the functions, from an envelope and a case.

`python -m tools.events create-entry "key of agent_billing_01=am_..."` prints the event of a case of
`events/http/` with its placeholders filled in, as `sam local invoke` takes it. The cases of
`events/stream.json` are named `stream:created` and so on.
"""

import base64
import json
import re
import sys
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

Json = dict[str, Any]

_EVENTS = Path(__file__).parents[1] / "events"
_PLACEHOLDER = re.compile(r"{{(.+?)}}")


def load_http_cases() -> dict[str, Json]:
    """Load the cases of `events/http/` by name."""
    return {
        name: case
        for path in sorted((_EVENTS / "http").glob("*.json"))
        for name, case in json.loads(path.read_text(encoding="utf-8")).items()
    }


def load_stream_cases() -> dict[str, list[Json]]:
    """Load the cases of `events/stream.json`: the records of each by name."""
    cases: dict[str, list[Json]] = json.loads((_EVENTS / "stream.json").read_text(encoding="utf-8"))
    return cases


def render_http_event(name: str, values: Mapping[str, str]) -> Json:
    """Render an event of an HTTP API (payload 2.0).

    Args:
        name: the case's.
        values: of its placeholders, such as `id of batch_progress`.

    Raises:
        KeyError: there is no such case, or a placeholder has no value.
    """
    case = _fill_in(load_http_cases()[name], values)
    method, _, path = case["request"].partition(" ")
    event = _load_envelope("http")
    event["rawPath"] = event["requestContext"]["http"]["path"] = path
    event["requestContext"]["http"]["method"] = method
    event["requestContext"]["requestId"] = _request_id(name)
    event["rawQueryString"] = case.get("query", "")
    if "query" in case:
        event["queryStringParameters"] = _join_parameters(case["query"])
    event["headers"] |= case.get("headers", {})
    if "key" in case:
        event["headers"]["x-api-key"] = values[f"key of {case['key']}"]
    if "base64" in case:
        event |= {"body": case["base64"], "isBase64Encoded": True}
    elif "json" in case:
        event["body"] = json.dumps(case["json"], ensure_ascii=False)
        event["headers"].setdefault("content-type", "application/json")
    elif "text" in case:
        event["body"] = case["text"]
    if "body" in event:
        event["headers"]["content-length"] = str(len(_body(event)))
    return event


def render_stream_event(name: str) -> Json:
    """Render a batch of records of the change stream.

    Raises:
        KeyError: there is no such case.
    """
    records = load_stream_cases()[name]
    return {"Records": [_render_record(n, each) for n, each in enumerate(records, start=1)]}


def _render_record(number: int, case: Json) -> Json:
    record = _load_envelope("stream")
    record["eventID"] = f"{number:032x}"
    record["eventName"] = case["event"]
    images = {name: case[short] for name, short in _IMAGES.items() if short in case}
    image = next(iter(images.values()))
    record["dynamodb"] |= images | {
        "ApproximateCreationDateTime": 1_779_350_400 + number,
        "Keys": {name: image[name] for name in ("pk", "sk")},
        "SequenceNumber": f"44215845000000000174504390{number:02}",
        "SizeBytes": len(json.dumps(images)),
    }
    return record | {name: case[name] for name in case.keys() & {"userIdentity"}}


_IMAGES = {"NewImage": "new", "OldImage": "old"}


def _load_envelope(name: str) -> Json:
    envelope: Json = json.loads((_EVENTS / f"envelopes/{name}.json").read_text(encoding="utf-8"))
    return envelope


def _fill_in(case: Json, values: Mapping[str, str]) -> Json:
    text = _PLACEHOLDER.sub(lambda found: values[found[1]], json.dumps(case, ensure_ascii=False))
    filled: Json = json.loads(text)
    return filled


def _request_id(name: str) -> str:
    """Build a request id in API Gateway's form: 11 bytes in base64."""
    return base64.b64encode(blake2b(name.encode(), digest_size=11).digest()).decode()


def _join_parameters(query: str) -> dict[str, str]:
    """Join the values of a parameter that is given more than once by commas, as HTTP APIs do."""
    joined: dict[str, str] = {}
    for name, value in parse_qsl(query, keep_blank_values=True):
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined


def _body(event: Json) -> bytes:
    text: str = event["body"]
    return base64.b64decode(text) if event["isBase64Encoded"] else text.encode()


def main(name: str, *values: str) -> None:
    """Print the payload of a case."""
    if name.startswith("stream:"):
        event = render_stream_event(name.removeprefix("stream:"))
    else:
        event = render_http_event(name, dict(each.split("=", 1) for each in values))
    json.dump(event, sys.stdout, indent=2, ensure_ascii=False)
    sys.stdout.write("\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
