"""Find a deployment by its description in Systems Manager's Parameter Store."""

import json
import os
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

SCHEMA = "1"  # the version of descriptions that these commands read


def follow_aws_region() -> None:
    """Use the Region in AWS_REGION for all calls, as the CDK does; boto3 does not read it."""
    if region := os.environ.get("AWS_REGION"):
        os.environ["AWS_DEFAULT_REGION"] = region


class UnknownDeployment(Exception):
    """The deployment can't be found or read; the message has the reason."""


@dataclass(frozen=True)
class Deployment:
    """A deployment in the environment's account and Region, in any stack.

    Attributes:
        outputs: the deployment's resources by name, such as `MemoryTable`.
    """

    name: str
    outputs: dict[str, str]

    @classmethod
    def find(cls, name: str) -> "Deployment":
        """Read the description of a deployment.

        Raises:
            UnknownDeployment: no deployment has this name, or another release deployed it.
        """
        ssm, parameter = client("ssm"), f"/agent-memory/{name}/deployment"
        try:
            stored = ssm.get_parameter(Name=parameter)["Parameter"]["Value"]
        except ssm.exceptions.ParameterNotFound:
            region = ssm.meta.region_name
            raise UnknownDeployment(
                f"no deployment is called {name}: {region} has no parameter {parameter}"
            ) from None
        outputs = json.loads(stored)
        if outputs["Schema"] != SCHEMA:
            raise UnknownDeployment(
                f"{parameter} has schema {outputs['Schema']}, and these commands read {SCHEMA}:"
                " use the commands of the release that is deployed"
            )
        return cls(name, outputs)

    def function(self, name: str) -> str:
        """Return the physical name of a function: `Api`, `Stream`, `Schedule`, `TaskEvents`."""
        return self.outputs[f"{name}Function"]

    def alias_of(self, name: str) -> str:
        """Return a function's name with the alias of the version in use."""
        return f"{self.function(name)}:{self.outputs['Alias']}"


def client(service: str, config: Config | None = None) -> Any:
    """Create a client of a service, for the credentials and the Region of the environment."""
    return boto3.client(service, config=config)
