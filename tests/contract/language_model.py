"""An OpenAI-compatible endpoint on this machine, which answers from a recorded file.

A record says what is learned from a message with certain words. The indexes of messages, and the
ids of what is known, are taken from the request. So the same records serve any conversation.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

Json = dict[str, Any]
_RECORDED = Path(__file__).parent / "corpus/learning/recorded.json"
_FIELDS = {
    "facts": ("subject", "predicate", "object", "confidence"),
    "preferences": ("topic", "text"),
    "episodes": ("title", "text"),
}
_EMPTY = {"subject": "-", "predicate": "-", "object": "-", "topic": "-", "text": "-"}
_EMPTY |= {"title": "-"}


class Model:
    """The model.

    Attributes:
        url: the address of the endpoint.
        asked: the bodies of all requests.
        answer: makes the answer of a request, in the place of the recorded one.
        status: of the answers.
        tokens: that each request takes.
    """

    def __init__(self) -> None:
        self.url = ""
        self.asked: list[Json] = []
        self.answer: Callable[[Json], Any] | None = None
        self.status = 200
        self.tokens = 100
        self._records: list[Json] = json.loads(_RECORDED.read_text(encoding="utf-8"))

    def respond(self, body: Json) -> Json:
        """The response to a request."""
        self.asked.append(body)
        answer = (self.answer or self.recall)(body)
        text = answer if isinstance(answer, str) else json.dumps(answer)
        message = {"role": "assistant", "content": text}
        return {"choices": [{"message": message}], "usage": {"total_tokens": self.tokens}}

    def recall(self, body: Json) -> Json:
        """The answer that the records have to a request."""
        document = read_data(body)
        schema = body["response_format"]["json_schema"]["schema"]
        (kind,) = schema["properties"]
        if kind == "text":
            before = [each["text"] for each in document["known"]]
            return {"text": " ".join([*before, *(m["content"] for m in document["messages"])])}
        return {
            kind: [
                _build_change(kind, item, message["index"], document["known"])
                for message in document["messages"]
                for record in self._records
                if record["says"] in message["content"]
                for item in record.get(kind, ())
            ]
        }


def read_data(body: Json) -> Json:
    """Return the data that a request sends: known memories, and messages."""
    document: Json = json.loads(body["messages"][1]["content"])
    return document


def _build_change(kind: str, item: Json, index: int, known: list[Json]) -> Json:
    wanted = item.get("replaces") or item.get("ends")
    found = [each["id"] for each in known if wanted and wanted in json.dumps(each)]
    action = "end" if "ends" in item else "replace" if found else "add"
    fields = {name: item.get(name, _EMPTY.get(name, 0.5)) for name in _FIELDS[kind]}
    return {"action": action, "known": found[0] if found else None, "messages": [index]} | fields


@contextmanager
def serve() -> Iterator[Model]:
    """Serve a model, as long as the context lasts."""
    model = Model()

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece; else its second one waits for an acknowledgement

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            answer = json.dumps(model.respond(body)).encode()
            self.send_response(model.status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    model.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
