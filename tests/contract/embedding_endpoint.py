"""An OpenAI-compatible endpoint of embeddings on this machine.

Words of one topic have one direction, in whatever language they are; others have none.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

Json = dict[str, Any]
_TOPICS = (
    {"car", "vehicle", "automobile", "voiture", "drives"},
    {"tea", "beverage", "drink", "boisson", "drinks"},
    {"refund", "money", "remboursement", "reimbursed"},
)
_WORD = re.compile(r"\w+")


class Embeddings:
    """The model.

    Attributes:
        url: the address of the endpoint.
        asked: the bodies of all requests.
        keys: the values of `Authorization`.
        dimensions: of the vectors, where a request does not choose.
        status: of the answers.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Json] = []
        self.keys: set[str | None] = set()
        self.dimensions = 1536
        self.status = 200

    @property
    def texts(self) -> list[str]:
        """All texts that were embedded."""
        return [text for each in self.asked for text in each["input"]]

    def respond(self, body: Json) -> Json:
        """The response to a request, last text first."""
        self.asked.append(body)
        size = body.get("dimensions") or self.dimensions
        vectors = [_embed(text, size) for text in body["input"]]
        data = [{"index": index, "embedding": each} for index, each in enumerate(vectors)]
        return {"data": data[::-1], "model": body["model"]}


def _embed(text: str, size: int) -> list[float]:
    words = _WORD.findall(text.lower())
    found = [3.0 * sum(each in topic for each in words) for topic in _TOPICS]
    return [*found, 0.1, *[0.0] * (size - len(found) - 1)]


@contextmanager
def serve_embeddings() -> Iterator[Embeddings]:
    """Serve a model, as long as the context lasts."""
    model = Embeddings()

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            model.keys.add(self.headers["Authorization"])
            assert self.path == "/v1/embeddings"
            answer = json.dumps(model.respond(body)).encode()
            self.send_response(model.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    Thread(target=server.serve_forever, daemon=True).start()
    model.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
