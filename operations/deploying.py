"""Run the command line that deploys this app or the operator's."""

import subprocess
from collections.abc import Mapping

DEFAULT_COMMAND = 'make deploy STAGE={name} CONTEXT="{context}"'


class DeploymentFailed(Exception):
    """The deployment's command line failed; its output has the reason."""


def run_deployment(command: str, name: str, context: Mapping[str, str]) -> None:
    """Deploy with additional context.

    Args:
        command: a line for the shell. `{context}` is replaced by the context; put it after yours,
            since the last value wins. `{name}` is replaced by the deployment's name.

    Raises:
        DeploymentFailed: the command ended with an error.
    """
    line = command.replace("{name}", name).replace("{context}", render_context(context))
    ran = subprocess.run(line, shell=True, check=False, stdout=2)  # noqa: S602 - the operator's own
    if ran.returncode != 0:
        raise DeploymentFailed(
            f"the deployment failed: {line}; repeat this command after you have fixed the cause"
        )


def render_context(context: Mapping[str, str]) -> str:
    """Render context as options of the CDK's command line."""
    return " ".join(f"-c {name}={value}" for name, value in context.items())
