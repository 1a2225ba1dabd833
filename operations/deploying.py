"""Deployments that a command starts, by the command line that deploys this app or another one."""

import subprocess
from collections.abc import Mapping

DEFAULT_COMMAND = 'make deploy STAGE={name} CONTEXT="{context}"'


class DeploymentFailed(Exception):
    """The deployment's command line failed; what it printed says why."""


def run_deployment(command: str, name: str, context: Mapping[str, str]) -> None:
    """Deploy with more context.

    Args:
        command: a line for the shell, with `{context}` where the context belongs: behind your own,
            since of two values the last one counts. `{name}` is the deployment's name.

    Raises:
        DeploymentFailed: it ended with an error.
    """
    line = command.replace("{name}", name).replace("{context}", render_context(context))
    ran = subprocess.run(line, shell=True, check=False, stdout=2)  # noqa: S602 - the operator's own
    if ran.returncode != 0:
        raise DeploymentFailed(f"the deployment failed, call this again when it can: {line}")


def render_context(context: Mapping[str, str]) -> str:
    """Render context as options of the CDK's command line."""
    return " ".join(f"-c {name}={value}" for name, value in context.items())
