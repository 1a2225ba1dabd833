"""`make run` with models of its user: it learns from conversations, and embeds."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path

from tests.contract.conversation_calls import put
from tests.contract.embedding_endpoint import serve_embeddings
from tests.contract.expect import ok
from tests.contract.language_model import serve
from tests.contract.learning_calls import declare, facts
from tests.contract.local_server import PATIENCE, running


def test_the_local_server_learns_by_an_endpoint_of_this_machine(tmp_path: Path) -> None:
    with (
        serve() as model,
        running(tmp_path, AGENT_MEMORY_MODEL_URL=model.url, AGENT_MEMORY_MODEL_KEY="k") as server,
        server.client() as admin,
    ):
        declare(admin, "facts")
        ok(put(admin, "s", "I live in Rome", user_id="ada"), 201)
        deadline = time.monotonic() + PATIENCE
        while not facts(admin):
            assert time.monotonic() < deadline, "nothing was learned"
            time.sleep(0.02)
        assert facts(admin) == ["Ada lives in Rome"]
        assert model.asked[0]["model"] == "default"


def test_the_demo_shows_learning_without_a_model(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    with running(tmp_path, AGENT_MEMORY_MODEL_URL=url) as server:
        environment = os.environ | {
            "AGENT_MEMORY_URL": server.address,
            "AGENT_MEMORY_API_KEY": server.api_key,
        }
        command = [sys.executable, "-m", "agent_memory.cli", "demo", "--learn", "--port", str(port)]
        ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    shown = ran.stdout
    assert "learned: Ada is allergic to nuts (message 0)" in shown
    assert "learned: Ada lives in Oslo (message 3)" in shown
    assert "Ada lives in Rome (" not in shown
    assert "Ada lives in Oslo" in shown.partition("recalled")[2]


def test_the_local_server_embeds_by_an_endpoint_of_this_machine(tmp_path: Path) -> None:
    with (
        serve_embeddings() as model,
        running(
            tmp_path,
            EMBEDDING_MODEL="openai:topics",
            EMBEDDING_URL=model.url,
            AGENT_MEMORY_EMBEDDING_KEY="k",
        ) as server,
        server.client() as admin,
    ):
        put(admin, "s", "Ma voiture est rouge", "Au revoir", user_id="ada")
        body = {"text": "She drives to work", "user_id": "ada"}
        ok(admin.post("/api/v1/remember", json=body), 201)
        asked = {"query": "vehicle", "user_id": "ada", "wait": "indexed", "top_k": 2}
        found = ok(admin.post("/api/v1/recall", json=asked))["items"]
        texts = {each["text"] for each in found}
        assert texts == {"Ma voiture est rouge", "She drives to work"}
        assert model.keys == {"Bearer k"}


def test_what_is_written_while_a_model_fails_is_found_later(tmp_path: Path) -> None:
    with (
        serve_embeddings() as model,
        running(tmp_path, EMBEDDING_URL=model.url, EMBEDDING_MODEL="openai:topics") as server,
        server.client() as admin,
    ):
        model.status = 500
        ok(admin.post("/api/v1/remember", json={"text": "Tea is in the kitchen"}), 201)
        deadline = time.monotonic() + PATIENCE
        while sum("kitchen" in text for text in model.texts) < 7:
            assert time.monotonic() < deadline, "the stream no longer tries"
            time.sleep(0.02)
        model.status = 200
        deadline = time.monotonic() + PATIENCE
        asked = {"query": "kitchen", "wait": "indexed"}
        while not (found := ok(admin.post("/api/v1/recall", json=asked))["items"]):
            assert time.monotonic() < deadline, "it is not found"
        assert [each["text"] for each in found] == ["Tea is in the kitchen"]
