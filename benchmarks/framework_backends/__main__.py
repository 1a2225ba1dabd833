"""Print tables of the adapters beside their frameworks' own backends.

    make frameworks crewai
    python -m benchmarks.framework_backends [NAME ...]

Each framework is measured by the Python that has it, against one local server. With `--in FOLDER`
it measures one framework in this very process, as the program does for each.
"""

import argparse
import importlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import servers

_ROOT = Path(__file__).parents[2]
_BENCH = _ROOT / ".bench"
_MOTO = "moto[server]==5.2.5"  # simulates S3
_FRAMEWORKS = {  # the module that measures, and the environment that has the framework
    "strands": ("strands_sessions", ".venv-frameworks"),
    "adk": ("adk_sessions", ".venv-frameworks"),
    "claude": ("claude_files", ".venv-frameworks"),
    "pydantic-ai": ("pydantic_conversations", ".venv-frameworks"),
    "crewai": ("crewai_memory", ".venv-crewai"),
}


@contextmanager
def _simulate_s3(folder: Path) -> Iterator[str]:
    """Run a simulated S3; its address."""
    program = servers.environment_with(_BENCH / "moto", [_MOTO]) / "bin" / "moto_server"
    with servers.listening([str(program), "-p"], folder / "s3.log") as port:
        yield f"http://127.0.0.1:{port}"


def _measure_here(name: str, folder: Path, s3: str) -> None:
    module = importlib.import_module(f"benchmarks.framework_backends.{_FRAMEWORKS[name][0]}")
    for figures in module.run(folder, s3):
        print(json.dumps(figures), flush=True)


def _measure(name: str, server: servers.Server, s3: str, folder: Path) -> list[dict[str, str]]:
    """Measure a framework in its environment."""
    host, port = server.address
    environment = os.environ | {
        "PYTHONPATH": f"{_ROOT}:{_ROOT / 'sdk'}",
        "AGENT_MEMORY_URL": f"http://{host}:{port}",
        "AGENT_MEMORY_API_KEY": server.key,
        "CREWAI_DISABLE_TELEMETRY": "true",
        "OTEL_SDK_DISABLED": "true",
    }
    python = _ROOT / _FRAMEWORKS[name][1] / "bin" / "python"
    command = [str(python), "-m", "benchmarks.framework_backends", name]
    done = subprocess.run(  # noqa: S603 - a command of this module
        [*command, "--in", str(folder), "--s3", s3],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=_ROOT,
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def _render(rows: list[dict[str, str]]) -> Iterator[str]:
    """Render rows as tables of Markdown, one for each kind of row."""
    columns: list[str] = []
    for row in rows:
        if list(row) != columns:
            columns = list(row)
            yield f"\n| {' | '.join(columns)} |"
            yield "|" + "---|" * len(columns)
        yield f"| {' | '.join(row.values())} |"


def main() -> None:
    """Measure the frameworks that are named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*_FRAMEWORKS, []], metavar="NAME")
    parser.add_argument("--in", dest="folder", type=Path)
    parser.add_argument("--s3", default="")
    options = parser.parse_args()
    if options.folder is not None:
        _measure_here(options.names[0], options.folder, options.s3)
        return
    servers.prepare(_BENCH)
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        with servers.ours(folder) as server, _simulate_s3(folder) as s3:
            for name in options.names or _FRAMEWORKS:
                print("\n".join(_render(_measure(name, server, s3, folder))), flush=True)


main()
