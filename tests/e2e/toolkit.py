"""The CDK's command line, as an operator uses it, on an emulated AWS."""

import os
import platform
import shlex
import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import Executor
from pathlib import Path

from tests.e2e.cloud import ACCOUNT, REGION, Cloud
from tests.e2e.environment import ROOT

_IN_PROJECT = ROOT / "node_modules/.bin/cdk"
_PATIENCE = 900.0  # seconds; what a busy machine needs for a command
SOURCE, PLANNING = "com.example.planner", "planning"  # who sends task events, and to which tenant
NAME = "e2e"
_APP = (
    "--no-staging",
    f"--app={sys.executable} -m tests.e2e.app",
)  # copies no code beside templates
_HOME = {"HOME": str(Path.home())}  # where jsii keeps what it has unpacked, once and for all
_CONTEXT = {
    "stage": NAME,
    "architecture": "arm64" if platform.machine() in ("arm64", "aarch64") else "x86_64",
    "boto3": "runtime",
    "task_event_sources": SOURCE,
    "task_event_principal": f"{PLANNING}/planner",
}


class Toolkit:
    """Runs commands of the CDK.

    Args:
        folder: where it keeps what it makes, the synthesized stack among it.
        side: synthesizes in the background, which takes longest and needs no AWS; None for lines
            of deployments alone.
        context: beside what all deployments of the tests have.
    """

    def __init__(
        self, folder: Path, side: Executor | None, context: Mapping[str, str] | None = None
    ) -> None:
        self._folder = folder
        self._context = _CONTEXT | dict(context or {})
        self._assembly = folder / "cdk.out"
        self._synthesized = side.submit(self._synth) if side else None

    def _synth(self) -> None:
        output = f"--output={self._assembly}"
        self._run(ROOT, _HOME, "synth", "--quiet", *_APP, output, *self._list_context())

    def _list_context(self) -> list[str]:
        return [f"--context={name}={value}" for name, value in self._context.items()]

    def render_deployment(self) -> str:
        """Render the shell line that synthesizes again and deploys, with more `{context}`."""
        own = self._environment() | _HOME
        del own["CDK_DEFAULT_REGION"]  # the Region is that of the command's environment
        variables = [f"{name}={value}" for name, value in own.items()]
        options = ["--all", "--require-approval=never", "--no-notices", "--ci", *_APP]
        output = f"--output={self._folder / 'anew'}"
        words = [_command(), "deploy", *options, output, *self._list_context()]
        return f"{shlex.join(['env', *variables, *words])} {{context}}"

    def bootstrap(self, cloud: Cloud, region: str = REGION) -> None:
        self._run(self._folder, cloud.environment, "bootstrap", f"aws://{ACCOUNT}/{region}")

    def deploy(self, cloud: Cloud) -> None:
        self._on_stacks(cloud, "deploy", "--require-approval=never")

    def destroy(self, cloud: Cloud) -> None:
        self._on_stacks(cloud, "destroy", "--force")

    def _on_stacks(self, cloud: Cloud, command: str, *options: str) -> None:
        assert self._synthesized is not None
        self._synthesized.result()
        app = f"--app={self._assembly}"
        self._run(self._folder, cloud.environment, command, app, "--all", *options)

    def _run(self, cwd: Path, environment: dict[str, str], *arguments: str) -> None:
        told = self._folder / f"{arguments[0]}.txt"
        with (
            told.open("wb") as output,
            subprocess.Popen(
                [_command(), *arguments, "--no-notices", "--ci"],
                cwd=cwd,
                env=self._environment() | environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
            ) as process,
        ):
            impatient = threading.Timer(_PATIENCE, process.kill)
            impatient.start()
            process.wait()
            impatient.cancel()
        assert process.returncode == 0, f"cdk {arguments[0]} failed:\n{told.read_text()[-6000:]}"

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self._folder),
            "CDK_HOME": str(self._folder),
            "CDK_DISABLE_VERSION_CHECK": "1",
            "CDK_DEFAULT_ACCOUNT": ACCOUNT,
            "CDK_DEFAULT_REGION": REGION,
            "AWS_EC2_METADATA_DISABLED": "true",
            "JSII_SILENCE_WARNING_DEPRECATED_NODE_VERSION": "1",
            "CDK_VALIDATION": "false",  # tests/infra validates; each command would load the rules
        }


def _command() -> str:
    found = str(_IN_PROJECT) if _IN_PROJECT.exists() else shutil.which("cdk")
    assert found, "the CDK's command line is not there; run `npm ci`"
    return found
