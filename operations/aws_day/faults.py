"""`python -m operations.aws_day.faults`: the CDK app with a fault for a step of the day.

`-c day_fault=create` fails the first deployment at its end. `-c day_fault=release` publishes a
version whose functions look for a table that doesn't exist.
"""

from typing import cast

from aws_cdk import App, CfnWaitCondition, CfnWaitConditionHandle
from aws_cdk import aws_lambda as lambda_

from infra.app import make
from infra.config import Config
from infra.stacks import MemoryStacks


def add_fault(app: App, stacks: MemoryStacks) -> None:
    """Add the fault of the context, if any."""
    fault = app.node.try_get_context("day_fault")
    if fault == "create":
        _fail_at_the_end(stacks)
    elif fault == "release":
        function = stacks.memory.functions.api.function.node.default_child
        low = cast("lambda_.CfnFunction", function)
        low.add_property_override("Environment.Variables.MEMORY_TABLE", "agent-memory-absent")


def _fail_at_the_end(stacks: MemoryStacks) -> None:
    """Wait a second for a signal that is never sent, after all other resources are created."""
    handle = CfnWaitConditionHandle(stacks.compute, "Never").ref
    wait = CfnWaitCondition(stacks.compute, "Fault", count=1, handle=handle, timeout="1")
    wait.node.add_dependency(stacks.memory)


def main() -> None:
    """Synthesize the stacks of the context."""
    app = App()
    add_fault(app, make(app, Config.from_context(app.node.get_all_context())))
    app.synth()


if __name__ == "__main__":
    main()
