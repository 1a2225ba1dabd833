"""What the package is: both clients alike, light to import, typed for its users."""

import inspect
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import agent_memory
import pytest
from agent_memory import AsyncClient, Client

SDK = Path(__file__).parents[2] / "sdk"
HEAVY = {"asyncio", "boto3", "pydantic", "langgraph", "agents", "mcp", "multiprocessing", "sqlite3"}
USER = """
from agent_memory import AsyncClient, Client, Entry, SearchResult
from typing import assert_type

def use(client: Client) -> None:
    assert_type(client.memory.set("ns", "k", {"n": 1}), Entry)
    assert_type(client.memory.get("ns", "k"), "dict[str, Any] | None")
    assert_type(client.memory.search("q", memory_type="working"), list[SearchResult])
    assert_type(client.runs.recall("sdr"), list[dict[str, Any]])
    for entry in client.memory.query(namespace="ns"):
        assert_type(entry, Entry)

async def use_async(client: AsyncClient) -> None:
    assert_type(await client.memory.get_entry("ns", "k"), "Entry | None")
    async for entry in client.memory.query(namespace="ns"):
        assert_type(entry, Entry)
"""


def test_generated_modules_are_up_to_date(tmp_path: Path) -> None:
    spec = spec_from_file_location("generate", SDK / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.generate(tmp_path)
    made = {each.name: each.read_text() for each in (tmp_path / "_sync").glob("*.py")}
    kept = {each.name: each.read_text() for each in (SDK / "agent_memory/_sync").glob("*.py")}
    assert kept == made, "run: python sdk/generate.py"
    model = (SDK / "agent_memory/model.py").read_text()
    assert model == (tmp_path / "model.py").read_text(), "run: python sdk/generate.py"


def _surface(thing: Any) -> dict[str, list[str]]:
    public = [name for name in dir(thing) if not name.startswith("_")]
    methods = {name: getattr(thing, name) for name in public}
    return {
        name: list(inspect.signature(method).parameters)
        for name, method in methods.items()
        if inspect.ismethod(method)
    }


def test_both_clients_have_the_same_calls() -> None:
    sync, other = Client(api_key="am_x"), AsyncClient(api_key="am_x")
    parts = [
        name
        for name, part in vars(sync).items()
        if part.__class__.__module__.startswith("agent_memory._sync")
    ]
    assert len(parts) > 10
    assert _surface(sync) == _surface(other)
    for part in parts:
        assert _surface(getattr(sync, part)) == _surface(getattr(other, part)) != {}


def test_importing_it_imports_nothing_heavy() -> None:
    code = (
        "import sys, httpx; before = set(sys.modules); import agent_memory; agent_memory.Client;"
        "print(*(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(ran.stdout.split())
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert "agent_memory._sync.client" in modules


@pytest.mark.parametrize("name", agent_memory.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    assert inspect.getdoc(getattr(agent_memory, name))
    with pytest.raises(AttributeError):
        _ = agent_memory.nothing


def test_its_types_hold_for_its_users(tmp_path: Path) -> None:
    (tmp_path / "user.py").write_text("from typing import Any\n" + USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", "user.py"]
    environment = {"MYPYPATH": str(SDK), "PATH": ""}
    ran = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout
