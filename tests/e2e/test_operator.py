"""From the operator's secret to an agent with memory."""

from tests.contract.bodies import create, entry, read
from tests.contract.expect import ok, refused
from tests.contract.service import Service
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E

pytestmark = E2E


def test_the_secret_makes_a_tenant_whose_agent_remembers(service: Service) -> None:
    agent = service.tenant().agent("ada")
    made = create(agent, entry())
    assert ok(read(agent, made["id"])) == made


def test_another_key_makes_no_tenant(service: Service) -> None:
    stranger = service.client("x" * len(service.root_key))
    refused(stranger.post("/api/v1/tenants", json={"id": "mine"}), 401, "UNAUTHENTICATED")


def test_no_output_and_no_variable_shows_the_secret(deployment: Deployment) -> None:
    functions = deployment.cloud.client("lambda").list_functions()["Functions"]
    cloudformation = deployment.cloud.client("cloudformation")
    templates = [cloudformation.get_template(StackName=stack) for stack in deployment.stacks]
    shown = f"{deployment.outputs}{functions}{templates}"
    assert "ROOT_KEY_SECRET_ID" in shown
    assert deployment.service.root_key not in shown
