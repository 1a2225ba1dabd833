"""Receive the events that another system on the event bus gets."""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.e2e.deployment import Deployment
from tests.e2e.queues import taken


class Listener:
    """A queue behind a rule of the bus."""

    def __init__(self, deployment: Deployment, queue_url: str) -> None:
        self._sqs = deployment.cloud.client("sqs")
        self._queue_url = queue_url
        self.heard: list[dict[str, Any]] = []

    def hear(self) -> list[dict[str, Any]]:
        """All CloudEvents so far, in the order of their arrival."""
        messages = taken(self._sqs, self._queue_url)
        self.heard += [json.loads(message)["detail"] for message in messages]
        return self.heard


@contextmanager
def listening(deployment: Deployment, tenant: str) -> Iterator[Listener]:
    """A rule for one tenant's events, and its queue; both are gone at the end."""
    sqs, events = deployment.cloud.client("sqs"), deployment.cloud.client("events")
    name, bus = f"listener-{uuid.uuid4().hex[:8]}", deployment.outputs["EventBus"]
    queue_url = sqs.create_queue(QueueName=name)["QueueUrl"]
    asked = sqs.get_queue_attributes(QueueUrl=queue_url, AttributeNames=["QueueArn"])
    pattern = {"source": ["agent-memory"], "detail": {"data": {"tenant": [tenant]}}}
    events.put_rule(Name=name, EventBusName=bus, EventPattern=json.dumps(pattern))
    target = {"Id": "queue", "Arn": asked["Attributes"]["QueueArn"]}
    events.put_targets(Rule=name, EventBusName=bus, Targets=[target])
    try:
        yield Listener(deployment, queue_url)
    finally:
        events.remove_targets(Rule=name, EventBusName=bus, Ids=["queue"])
        events.delete_rule(Name=name, EventBusName=bus)
        sqs.delete_queue(QueueUrl=queue_url)
