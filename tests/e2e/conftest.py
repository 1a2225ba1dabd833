"""Test the deployed stack. The tests share one deployment; each has its own tenant."""

from collections.abc import Iterator

import pytest

from tests.contract.service import Service, Tenant
from tests.e2e.deployment import Deployment


@pytest.fixture(autouse=True)
def nothing_is_denied(deployment: Deployment) -> Iterator[None]:
    """No function makes a call that its role doesn't allow."""
    yield
    assert deployment.cloud.new_denials() == []


@pytest.fixture
def service(deployment: Deployment) -> Service:
    """The service behind its HTTP API."""
    return deployment.service


@pytest.fixture
def tenant(service: Service) -> Tenant:
    return service.tenant()
