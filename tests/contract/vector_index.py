"""DynamoDB's `SearchVectors`, which no emulator has, in front of one that has all the rest.

It answers from what is stored, as AWS documents the operation: the calls are checked against
botocore's own model of the service, and the errors have the service's words.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import hypot
from threading import Thread
from typing import Any

import boto3
import httpx
from botocore.validate import ParamValidator

from functions.platform.embedding_models import INDEXED_DIMENSIONS
from functions.platform.schema import build_vector_index
from tests.contract.engines import Engine

Json = dict[str, Any]
INDEX = "by_meaning"
_DECLARED = build_vector_index(INDEX, INDEXED_DIMENSIONS)
_HASH, *_FILTERS = (each["AttributeName"] for each in _DECLARED["SearchSchema"])
_VECTOR = _DECLARED["VectorAttribute"]["AttributeName"]
_SAME = re.compile(r"(\w+) = (:\w+)")


class ValidationException(Exception):
    """An error that DynamoDB answers."""


class FakeVectorIndex:
    """The index, and how it stands: `building` is what it says while it is being built."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.asked: list[Json] = []
        self.building: str | None = None
        client = boto3.client("dynamodb")
        self._shape = client.meta.service_model.operation_model("SearchVectors").input_shape

    def answer(self, asked: Json) -> Json:
        """Return the operation's answer."""
        problems = ParamValidator().validate(asked, self._shape)
        assert not problems.has_errors(), problems.generate_report()
        self.asked.append(asked)
        if self.building is not None or asked["IndexName"] != INDEX:
            raise ValidationException(
                self.building or f"The table does not have the specified index: {INDEX}"
            )
        if not 1 <= asked["TopK"] <= 100:
            raise ValidationException(
                f"Provided TopK value '{asked['TopK']}' is out of valid range."
            )
        wanted, vector = _condition(asked), _numbers(asked["SearchVector"])
        scored = [
            {"Item": {"sk": item["sk"]}, "Score": _distance(vector, _numbers(item[_VECTOR]["L"]))}
            for item in self._engine.items()
            if _VECTOR in item and all(item.get(name) == each for name, each in wanted.items())
        ]
        return {"SearchResults": sorted(scored, key=_score)[: asked["TopK"]]}


def _score(result: Json) -> float:
    score: float = result["Score"]
    return score


def _condition(asked: Json) -> Json:
    terms = asked["SearchConditionExpression"].split(" AND ")
    matches = [_SAME.fullmatch(term) for term in terms]
    named = {match[1]: asked["ExpressionAttributeValues"][match[2]] for match in matches if match}
    if len(named) != len(terms) or _HASH not in named or not named.keys() <= {_HASH, *_FILTERS}:
        raise ValidationException("Invalid SearchConditionExpression")
    return named


def _numbers(attributes: list[Json]) -> list[float]:
    numbers = [float(each["N"]) for each in attributes]
    if len(numbers) != _DECLARED["Dimensions"]:
        raise ValidationException(
            f"vector dimension {len(numbers)} does not match vector index dimension"
        )
    return numbers


def _distance(one: list[float], other: list[float]) -> float:
    product = sum(a * b for a, b in zip(one, other, strict=True))
    return 1 - product / (hypot(*one) * hypot(*other))


@contextmanager
def searching(engine: Engine) -> Iterator[tuple[str, FakeVectorIndex]]:
    """An endpoint of DynamoDB that can search vectors: where it is, and the search."""
    index, behind = FakeVectorIndex(engine), engine.environment["AWS_ENDPOINT_URL_DYNAMODB"]

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece; else its second one waits for an acknowledgement

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            target = self.headers["X-Amz-Target"]
            status, answer = self._search(body) if "SearchVectors" in target else self._pass(body)
            self.send_response(status)
            self.send_header("Content-Type", "application/x-amz-json-1.0")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def _search(self, body: bytes) -> tuple[int, bytes]:
            try:
                return 200, json.dumps(index.answer(json.loads(body))).encode()
            except ValidationException as error:
                kind = "com.amazon.coral.validate#ValidationException"
                return 400, json.dumps({"__type": kind, "message": str(error)}).encode()

        def _pass(self, body: bytes) -> tuple[int, bytes]:
            names = ("X-Amz-Target", "Content-Type", "Authorization", "X-Amz-Date")
            headers = {name: self.headers[name] for name in names if self.headers[name]}
            answer = engine_client.post(behind, content=body, headers=headers)
            return answer.status_code, answer.content

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    with (
        httpx.Client(trust_env=False) as engine_client,
        ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server,
    ):
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", index
        server.shutdown()
