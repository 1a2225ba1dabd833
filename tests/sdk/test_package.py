"""Test that both clients are alike, and that the package is light to import."""

import inspect
import re
import subprocess
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from operator import attrgetter
from pathlib import Path
from typing import Any

import agent_memory
import pytest
from agent_memory import AsyncClient, Client

SDK = Path(__file__).parents[2] / "sdk"
HEAVY = {"asyncio", "boto3", "pydantic", "langgraph", "agents", "mcp", "multiprocessing", "sqlite3"}


def test_generated_modules_are_up_to_date(tmp_path: Path) -> None:
    spec = spec_from_file_location("generate", SDK / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module.generate(tmp_path)
    for package in ("_sync", "model"):
        made = {each.name: each.read_text() for each in (tmp_path / package).glob("*.py")}
        kept = {
            each.name: each.read_text() for each in (SDK / "agent_memory" / package).glob("*.py")
        }
        assert kept == made, "run: python sdk/generate.py"


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


def test_every_call_shows_an_example() -> None:
    client = Client(api_key="am_x")
    parts = {name: part for name, part in vars(client).items() if hasattr(part, "_client")}
    parts |= {"client": client, "for_user": client.for_user("ada")}
    assert len(parts) > 10
    lacking = [
        f"{name}.{call}"
        for name, part in parts.items()
        for call in _surface(part)
        if not re.search(
            r"\b(client|admin|root|ada)\.|\bClient\(", inspect.getdoc(getattr(part, call)) or ""
        )
    ]
    assert lacking == []


def test_examples_name_calls_that_exist() -> None:
    client = Client(api_key="am_x")
    sources = (SDK / "agent_memory" / "_sync").glob("*.py")
    named = {
        call
        for source in sources
        for call in re.findall(r"\bclient\.([a-z_]+(?:\.[a-z_]+)?)\(", source.read_text("utf-8"))
    }
    assert len(named) > 100
    for call in named:
        attrgetter(call)(client)


def test_importing_it_and_its_commands_imports_nothing_heavy() -> None:
    code = (
        "import sys, httpx; before = set(sys.modules); import agent_memory; agent_memory.Client;"
        "import agent_memory.cli, agent_memory.mcp.__main__; print(*(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(ran.stdout.split())
    assert {name.partition(".")[0] for name in modules} & HEAVY == set()
    assert "agent_memory._sync.client" in modules


def test_every_public_name_is_there_and_documented() -> None:
    for name in agent_memory.__all__:
        assert inspect.getdoc(getattr(agent_memory, name)), name
    with pytest.raises(AttributeError):
        _ = agent_memory.nothing


@pytest.mark.parametrize(
    ("adapter", "framework", "extra"),
    [
        ("anthropic", "anthropic", "anthropic"),
        ("crewai", "crewai", "crewai"),
        ("google_adk", "google.adk", "google-adk"),
        ("pydantic_ai", "pydantic_ai", "pydantic-ai"),
        ("strands", "strands", "strands"),
    ],
)
def test_an_adapter_without_its_framework_names_the_extra(
    adapter: str, framework: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, framework, None)
    with pytest.raises(ModuleNotFoundError, match=rf"pip install 'agent-memory\[{extra}\]'"):
        import_module(f"agent_memory.adapters.{adapter}")
