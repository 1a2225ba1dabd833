"""An agent that has something of every kind."""

import httpx

from tests.contract import run_calls
from tests.contract.bodies import change_task, create, create_task, entry, semantic, working
from tests.contract.conversation_calls import put
from tests.contract.expect import ok
from tests.contract.fact_calls import learn
from tests.contract.openwop_calls import start
from tests.contract.service import Tenant
from tests.contract.sweeping import sweep


def fill(tenant: Tenant, agent: str = "alice") -> httpx.Client:
    """An agent of a tenant that has something of every kind."""
    client, boss = tenant.agent(agent), tenant.coordinator(f"boss-of-{agent}")
    task, ended = f"task_{agent}", f"ended_{agent}"
    create_task(boss, id=task, assigned_agent=agent, intent_id=f"intent_{agent}")
    create(client, working(task))
    create(client, entry(key="episode"))
    closing = create_task(boss, id=ended, assigned_agent=agent, intent_id=f"intent_{agent}")
    create(client, working(ended, key="archived", value={"told": f"zq-{agent}"}))
    ok(change_task(boss, closing, status="completed"))
    create(boss, semantic(namespace=f"facts-{agent}"))
    ok(put(client, f"s-{agent}", "hello", "world", user_id=agent), 201)
    old = {"user_id": agent, "messages": [{"role": "user", "content": "old"}], "ttl": "PT1S"}
    ok(client.put(f"/api/v1/conversations/old-{agent}", json=old), 201)
    ok(client.put(f"/api/v1/agents/{agent}/state/user_1/k", json={"value": 1}))
    start(client, f"zq-{agent}", secrets=[{"label": "k", "value": "sk-12345678"}]).put(
        f"zq-{agent}"
    )
    run_calls.append(client, run_calls.start(client), "said")
    ok(client.put(f"/api/v1/procedures/sdr/mail/{agent}", json={"spec": {"steps": ["write"]}}), 201)
    ok(client.put(f"/api/v1/instances/{agent}-1/working/k", json={"value": 1}))
    ok(client.put(f"/api/v1/agents/{agent}/objects/files/small", content=b"few"), 201)
    ok(client.put(f"/api/v1/agents/{agent}/objects/files/large", content=b"x" * 20_000), 201)
    learn(client, agent, "prefers", "email")
    tenant.service.clock.advance(seconds=2)
    sweep(tenant.service)
    return client
