"""A deployment, as it describes itself in one parameter of Systems Manager."""

import json
from dataclasses import dataclass
from typing import Any

import boto3
from botocore.config import Config

SCHEMA = "1"  # of the description that these commands read


class UnknownDeployment(Exception):
    """The deployment can't be found or read; the message says why."""


@dataclass(frozen=True)
class Deployment:
    """A deployment in the account and region at hand, whichever stack it is in.

    Attributes:
        outputs: what the deployment says of itself by name, as in `MemoryTable`.
    """

    name: str
    outputs: dict[str, str]

    @classmethod
    def find(cls, name: str) -> "Deployment":
        """Read the description of a deployment.

        Raises:
            UnknownDeployment: there is none of this name, or another release has made it.
        """
        ssm, parameter = client("ssm"), f"/agent-memory/{name}/deployment"
        try:
            stored = ssm.get_parameter(Name=parameter)["Parameter"]["Value"]
        except ssm.exceptions.ParameterNotFound:
            raise UnknownDeployment(
                f"no deployment is called {name} here: the parameter {parameter} is missing"
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
        """Return what a function is invoked by: its name, with the alias of the version in use."""
        return f"{self.function(name)}:{self.outputs['Alias']}"


def client(service: str, config: Config | None = None) -> Any:
    """Create a client of a service, for the credentials and the Region of the environment."""
    return boto3.client(service, config=config)
