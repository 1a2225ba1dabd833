"""The event bus of memory's events; a subscriber adds a rule."""

from typing import cast

from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from constructs import Construct

from .settings import Settings


class Bus(Construct):
    """A separate EventBridge bus, so that no other rules see the events; or a given one."""

    def __init__(
        self, scope: Construct, id: str, settings: Settings, given: events.IEventBus | None = None
    ) -> None:
        super().__init__(scope, id)
        self.name = given.event_bus_name if given else f"agent-memory-{settings.name}"
        self.bus = given or self._make(settings)

    def _make(self, settings: Settings) -> events.EventBus:
        bus = events.EventBus(
            self,
            "Bus",
            event_bus_name=self.name,
            description=f"agent-memory {settings.name}: events of memory",
        )
        low = cast("events.CfnEventBus", bus.node.default_child)
        low.override_logical_id(settings.to_logical_id("EventBus"))
        return bus

    def grant_publish(self, role: iam.Role) -> None:
        """Let a role put events onto this bus."""
        role.add_to_policy(
            iam.PolicyStatement(actions=["events:PutEvents"], resources=[self.bus.event_bus_arn])
        )
