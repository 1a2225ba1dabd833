"""The benchmark of learning, with recorded answers: the path of an answer loses nothing."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from benchmarks.learning import Dialogue, Json, read_dialogues


def record(dialogues: Sequence[Dialogue]) -> Callable[[Json], Json]:
    """Build what answers requests with the gold facts, as a faultless model would."""
    by_message = {
        message["content"]: [each for each in dialogue.gold if each.message == index]
        for dialogue in dialogues
        for index, message in enumerate(dialogue.messages)
    }

    def answer(body: Json) -> Json:
        data = json.loads(body["messages"][1]["content"])
        pairs = [(m["index"], g) for m in data["messages"] for g in by_message[m["content"]]]
        gone = {(g.subject, g.replaces or g.object) for _, g in pairs if g.replaces or g.is_end}
        facts = [
            {
                "action": "add",
                "known": None,
                "messages": [index],
                "subject": gold.subject,
                "predicate": gold.predicate,
                "object": gold.object,
                "confidence": 0.9,
            }
            for index, gold in pairs
            if (gold.subject, gold.object) not in gone
        ]
        return {"facts": facts}

    return answer


@contextmanager
def serve(answer: Callable[[Json], Json]) -> Iterator[str]:
    """Serve answers as an OpenAI-compatible endpoint of this machine."""

    class Endpoint(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # an answer in one piece

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            message = {"role": "assistant", "content": json.dumps(answer(body))}
            document = {"choices": [{"message": message}], "usage": {"total_tokens": 100}}
            encoded = json.dumps(document).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(encoded)))
            self.end_headers()
            self.wfile.write(encoded)

        def log_message(self, *_: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Endpoint) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_there_are_thirty_dialogues_with_gold_facts() -> None:
    dialogues = read_dialogues()
    assert len(dialogues) == 30
    assert all(each.messages for each in dialogues)
    assert sum(len(each.gold) for each in dialogues) > 45


def test_recorded_answers_are_learned_with_their_evidence() -> None:
    """The process has no other function, whose state it would share."""
    command = [sys.executable, "-m", "benchmarks", "learning"]
    with serve(record(read_dialogues())) as url:
        environment = {**os.environ, "AGENT_MEMORY_MODEL_URL": url}
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    row = ran.stdout.strip().splitlines()[-1].split()
    assert row == ["100.0", "100.0", "100.0", "0", "30", "3000"]
