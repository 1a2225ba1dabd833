"""`python -m tests.e2e.app`: the CDK app, with code that runs on this machine's interpreter.

The emulator runs functions on the interpreter that runs the emulator, whatever their runtime is.
"""

import sys

from aws_cdk import App

from infra.app import make
from infra.asset.target import Target
from infra.config import Config
from operations.aws_day.faults import add_fault


def main() -> None:
    """Synthesize the stacks that the context asks for."""
    app = App()
    config = Config.from_context(app.node.get_all_context())
    native = f"python{sys.version_info.major}.{sys.version_info.minor}"
    # The emulator's boto3 serves: one in the asset would slow the start of each function.
    stacks = make(app, config, Target(native, config.architecture, boto3=False))
    add_fault(app, stacks)
    app.synth()


if __name__ == "__main__":
    main()
