"""The pytest plugin, used by tests as a user would write them, in a pytest of their own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest

from tools.service_wheel import stage_package

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/how-to/test-your-agents.md"
PATIENCE = 120  # seconds; far more than anything here takes
WITHOUT_HEAVY = ("-pno:langsmith_plugin", "-pno:schemathesis", "-pno:typeguard")
Run = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Writes a test file and runs pytest on it, as in a project of the user's own."""

    def ran(
        tests: str, *options: str, path: str = str(ROOT), alone: bool = True, **variables: str
    ) -> "subprocess.CompletedProcess[str]":
        (tmp_path / "test_own.py").write_text(dedent(tests), encoding="utf-8")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "PYTEST_"))}
        if alone:  # without all other plugins that happen to be installed, some of them heavy
            inherited["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
            options += ("-p", "agent_memory.pytest_plugin")
        return subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *options],
            cwd=tmp_path,
            env=inherited | {"PYTHONPATH": f"{path}:{ROOT / 'sdk'}"} | variables,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    return ran


def assert_passed(ended: "subprocess.CompletedProcess[str]", count: int) -> None:
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f"{count} passed" in ended.stdout


def test_the_guides_example(run: Run) -> None:
    example = GUIDE.read_text(encoding="utf-8").partition("```python\n")[2].partition("```")[0]
    assert len(example.strip().splitlines()) <= 12
    assert_passed(run(example, *WITHOUT_HEAVY, alone=False), 1)


def test_neither_a_real_account_nor_a_package_called_functions_is_touched(
    run: Run, tmp_path: Path
) -> None:
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions/__init__.py").write_text("")
    stage_package(ROOT, tmp_path / "agent_memory_service")
    ended = run(
        """
        import os

        BEFORE = dict(os.environ)

        def test_environment(memory_service):
            memory_service.memory.set("n", "k", {})
            memory_service.settle()
            now = {k: v for k, v in os.environ.items() if k != "PYTEST_CURRENT_TEST"}
            assert now == {k: v for k, v in BEFORE.items() if k != "PYTEST_CURRENT_TEST"}
            assert os.environ["AWS_PROFILE"] == "production"
        """,
        path=str(tmp_path),
        AWS_PROFILE="production",
        AWS_ENDPOINT_URL="http://127.0.0.1:9",
        HTTPS_PROXY="http://127.0.0.1:9",
        HTTP_PROXY="http://127.0.0.1:9",
    )
    assert_passed(ended, 1)


def test_on_all_cores(run: Run) -> None:
    ended = run(
        """
        import pytest

        @pytest.mark.parametrize("number", range(4))
        def test_alone(memory_service, number):
            memory_service.memory.set("n", "k", {"number": number})
            assert memory_service.memory.get("n", "k") == {"number": number}
        """,
        *("-p", "xdist", "-n", "2"),
    )
    assert_passed(ended, 4)


def test_who_does_not_use_it_does_not_pay_for_it(run: Run) -> None:
    ended = run(
        """
        import sys

        def test_modules():
            dear = {"httpx", "anyio", "boto3", "botocore", "moto", "functions", "pydantic"}
            assert "agent_memory.pytest_plugin" in sys.modules
            assert sys.modules.keys() & dear == set()
        """,
    )
    assert_passed(ended, 1)


TOUCH = """
    def test_own(memory_service):
        pass
"""


def test_it_says_what_to_install(run: Run, tmp_path: Path) -> None:
    ended = run(TOUCH, path=str(tmp_path / "nowhere"))
    assert ended.returncode == 1
    assert "'agent_memory_service' isn't installed" in ended.stdout
    assert 'pip install "$(echo dist/agent_memory_runtime-*.whl)[testing]"' in ended.stdout
    assert "Traceback" not in ended.stdout
