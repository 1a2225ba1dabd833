"""A record that the stream function can't read delays no other one."""

from functions.platform import item_types
from tests.contract.bodies import create, entry
from tests.contract.service import Tenant
from tests.contract.streaming import log, summarize
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E
from tests.e2e.queues import taken
from tests.e2e.waiting import awaited

pytestmark = E2E


def poison(deployment: Deployment, partition: str) -> None:
    """Put what looks like an entry and is none."""
    item = {"pk": {"S": partition}, "sk": {"S": "e#poison#poison"}}
    deployment.cloud.client("dynamodb").put_item(
        TableName=deployment.outputs["MemoryTable"], Item=item
    )


def test_a_poison_record_is_skipped_and_the_rest_is_delivered(
    deployment: Deployment, tenant: Tenant
) -> None:
    ada = tenant.agent("ada")
    sqs, queue = deployment.cloud.client("sqs"), deployment.outputs["StreamDeadLetters"]
    create(ada, entry(key="before"))
    poison(deployment, item_types.AGENT.build_partition(tenant.id, agent="ada"))
    create(ada, entry(key="after"))
    events = awaited(lambda: log(ada, "agents/ada")[1:], "the event after it")
    assert summarize(events) == ["created after 1"]
    assert taken(sqs, queue) == []
