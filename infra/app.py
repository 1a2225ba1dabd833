"""`python -m infra.app`: the CDK app, which the CDK's command line runs (see `cdk.json`)."""

import sys

from aws_cdk import App, Validations
from cdk_nag import AwsSolutionsChecks, ServerlessChecks

from infra.asset.build import build
from infra.asset.target import Target
from infra.config import Config, ConfigError
from infra.stack import MemoryStack


def make(app: App, config: Config) -> MemoryStack:
    """Add the stack to an app, and the checks that its synthesis has to pass."""
    target = Target(config.runtime, config.architecture, boto3=config.boto3 == "bundled")
    stack = MemoryStack(app, config, build(target))
    Validations.of(app).add_plugins(AwsSolutionsChecks(app), ServerlessChecks(app))
    return stack


def main() -> None:
    """Synthesize the stack that the context asks for."""
    app = App()
    try:
        config = Config.from_context(app.node.get_all_context())
    except ConfigError as error:
        sys.exit(f"agent-memory: {error}")
    make(app, config)
    app.synth()


if __name__ == "__main__":
    main()
