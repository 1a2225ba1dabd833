"""A write is seen at once, from another process."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.bodies import create, entry, semantic, working
from tests.contract.service import Tenant

pytestmark = pytest.mark.usefixtures("parallel")

ROOT = Path(__file__).parents[2]
TIERS = [working(), entry(), semantic()]
READER = """
import json, sys
from functions.api.main import handler
from tests.contract.transport import HandlerTransport, open_client, turns
client = open_client(HandlerTransport(handler, turns(parallel=True)), sys.argv[1])
for tag in sys.stdin:
    found = client.get("/api/v1/memory", params={"tags": tag.strip()}).json()["entries"]
    print(json.dumps([entry["id"] for entry in found]), flush=True)
"""


def test_another_process_sees_a_create_by_its_tag_at_once(tenant: Tenant) -> None:
    key = tenant.principal("user", "alice")["api_key"]
    alice = tenant.service.client(key)
    environment = os.environ | tenant.service.environment() | {"PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        [sys.executable, "-c", READER, key],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as reader:
        assert reader.stdin
        assert reader.stdout
        for number, body in enumerate(10 * TIERS):
            made = create(alice, body | {"key": f"k{number}", "tags": [f"t{number}"]})
            reader.stdin.write(f"t{number}\n")
            reader.stdin.flush()
            answers = (
                line for line in reader.stdout if line.startswith("[")
            )  # the rest is its log
            assert json.loads(next(answers)) == [made["id"]]
        reader.stdin.close()
