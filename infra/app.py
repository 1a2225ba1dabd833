"""`python -m infra.app`: the CDK app, which the CDK's command line runs (see `cdk.json`)."""

import sys

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks, ServerlessChecks

from infra.agent_memory_cdk import FunctionCode, WrongChoice
from infra.asset.build import build
from infra.asset.target import Target
from infra.config import Config, ConfigError
from infra.stacks import MemoryStacks


def make(app: App, config: Config, target: Target | None = None) -> MemoryStacks:
    """Add the stacks to an app, and the checks of its synthesis.

    The code is built for the runtime of the configuration, or for `target` (an emulator's).
    """
    stacks = MemoryStacks(app, config, _build_code(config, target or _find_target(config)))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), ServerlessChecks(app))
    return stacks


def _find_target(config: Config) -> Target:
    return Target(config.runtime, config.architecture, boto3=config.boto3 == "bundled")


def _build_code(config: Config, target: Target) -> FunctionCode:
    asset = build(target)
    built_for = config.runtime, config.architecture
    return FunctionCode(asset.folder, asset.digest, *built_for, compiled=asset.compiled)


def main() -> None:
    """Synthesize the stacks of the context."""
    app = App()
    try:
        make(app, Config.from_context(app.node.get_all_context()))
    except (ConfigError, WrongChoice) as error:
        sys.exit(f"agent-memory: {error}")
    app.synth()


if __name__ == "__main__":
    main()
