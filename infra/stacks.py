"""The stacks of this app: the thinnest use of the construct."""

from aws_cdk import App, CfnOutput, Environment, Stack
from aws_cdk import aws_sns as sns

from infra.agent_memory_cdk import AgentMemory, Edge, FunctionCode, State
from infra.agent_memory_cdk.edge import REGION as EDGE_REGION
from infra.config import Config

_DESCRIPTION = "Memory for AI agents (OpenIntent RFC-0015)"
_HIDDEN = "Default"  # an id that the CDK leaves out of logical ids


class MemoryStacks:
    """A stack for what is kept, one for what runs, and one in us-east-1 where there is an edge.

    The stack of what runs reads the other's outputs without holding them (`cdk.json` asks for such
    weak references), so that a restored table can take the place of one.
    """

    def __init__(self, app: App, config: Config, code: FunctionCode) -> None:
        settings, name = config.to_settings(), f"agent-memory-{config.stage}"
        self.state = Stack(
            app,
            f"{name}-state",
            description=f"{_DESCRIPTION}: what is kept",
            termination_protection=settings.retain,
        )
        self.compute = Stack(
            app, name, description=_DESCRIPTION, termination_protection=settings.retain
        )
        topic = config.alarm_topic_arn
        self.memory = AgentMemory(
            self.compute,
            _HIDDEN,
            settings,
            code=code,
            state=State(self.state, _HIDDEN, settings),
            alarm_topic=sns.Topic.from_topic_arn(self.compute, "AlarmTopic", topic)
            if topic
            else None,
            tags={"stage": config.stage},
        )
        for output in ("ApiUrl", "TokenApiUrl", "RootKeySecretId"):
            if output in self.memory.description:
                CfnOutput(self.compute, output, value=self.memory.description[output])
        if settings.edge is not None:
            place = Environment(region=EDGE_REGION)
            Edge(Stack(app, f"{name}-edge", description=_DESCRIPTION, env=place), _HIDDEN, settings)
