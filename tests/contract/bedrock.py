"""Amazon Bedrock's embedding model, which answers on this machine.

Its vectors differ from the default model's: each word has its own direction.
"""

import json
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from math import hypot
from threading import Thread

TITAN = "amazon.titan-embed-text-v2:0"
MODEL = f"bedrock:{TITAN}"
_WORD = re.compile(r"\w+")


class Bedrock:
    """The model, and how it stands: `answers` is whether it does."""

    def __init__(self) -> None:
        self.answers = True
        self.asked: list[str] = []

    def embed(self, asked: dict[str, object]) -> list[float]:
        """The embedding of a text: the mean of its words' directions."""
        assert asked.keys() == {"inputText", "dimensions", "normalize"}
        text = str(asked["inputText"])
        self.asked.append(text)
        directions = [_direction(word) for word in _WORD.findall(text.lower())]
        total = [sum(each) for each in zip(*directions, strict=True)]
        length = hypot(*total)
        return [each / length for each in total]


def _direction(word: str) -> list[float]:
    luck = random.Random(word)  # noqa: S311 - no secret
    return [luck.gauss(0, 1) for _ in range(256)]


@contextmanager
def embedding() -> Iterator[tuple[str, Bedrock]]:
    """An endpoint of `bedrock-runtime`: where it is, and the model."""
    model = Bedrock()

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece; else its second one waits for an acknowledgement

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            assert TITAN in self.path.replace("%3A", ":")
            status, answer = 400, b'{"message": "access denied"}'
            if model.answers:
                status, answer = 200, json.dumps({"embedding": model.embed(body)}).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}", model
        server.shutdown()
