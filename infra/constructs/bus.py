"""The event bus that memory's events go to; whoever wants them adds a rule."""

from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from constructs import Construct

from infra.config import Config


class Bus(Construct):
    """An EventBridge bus of its own, so that nobody else's rules see the events."""

    def __init__(self, scope: Construct, id: str, config: Config) -> None:
        super().__init__(scope, id)
        self.bus = events.EventBus(
            self, "Bus", description=f"agent-memory {config.stage}: what happens to memories"
        )

    def grant_publish(self, role: iam.Role) -> None:
        """Let a role put events onto this bus."""
        role.add_to_policy(
            iam.PolicyStatement(actions=["events:PutEvents"], resources=[self.bus.event_bus_arn])
        )
