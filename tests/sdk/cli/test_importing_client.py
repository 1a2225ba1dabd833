"""A function in the cloud may remember a principal's former permissions; an import waits."""

import itertools

import pytest
from agent_memory import Client
from agent_memory.cli.tenant import importing_client
from agent_memory.cli.tenant.importing_client import ImportingClient
from agent_memory.exceptions import MemoryAccessError
from agent_memory.model import Permission

from tests.sdk.cli.conftest import Tenant
from tests.sdk.fault_proxy import Exchange, proxy_to

_NEEDED: tuple[Permission, ...] = ("memory.read", "memory.write", "memory.import")


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long the client has waited, in seconds, without the waiting."""
    waited: list[float] = []
    monkeypatch.setattr(importing_client, "sleep", waited.append)
    return waited


def test_an_import_waits_until_the_service_knows_of_its_permission(
    tenant: Tenant, waits: list[float]
) -> None:
    key, count = tenant.agent("ada"), itertools.count(1)
    with (
        Client(tenant.server.address, tenant.api_key) as admin,
        proxy_to(tenant.server.address) as proxy,
        ImportingClient(proxy.address, key) as ada,
    ):

        def give_late(exchange: Exchange) -> None:
            exchange.send(exchange.forward())
            if next(count) == 3:
                admin.principals.update("ada", permissions=_NEEDED)

        proxy.follow(itertools.repeat(give_late))
        ada.states.put("ada", "user", "tone", 1)
    assert len(waits) == 3


def test_an_import_waits_for_its_permission_for_70_seconds_at_most(
    tenant: Tenant, waits: list[float]
) -> None:
    with (
        ImportingClient(tenant.server.address, tenant.agent("ada")) as ada,
        pytest.raises(MemoryAccessError, match=r"memory\.import"),
    ):
        ada.states.put("ada", "user", "tone", 1)
    assert sum(waits) == 70
