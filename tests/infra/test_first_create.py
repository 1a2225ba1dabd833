"""A first deployment can fail at any resource, and be repeated by the same command.

CloudFormation is played by its rules of deletion: it keeps what the policy `Retain` or a protection
keeps, and refuses a name that is there already.
"""

import json
import re
from collections.abc import Iterator
from graphlib import TopologicalSorter
from typing import Any

import pytest

from tests.infra.template import Template

_NAMES = ("TableName", "BucketName", "Name", "RoleName", "QueueName", "AliasName")
_PROTECTIONS = ("DeletionProtectionEnabled", "DeletionProtection")
Json = dict[str, Any]


class Refused(Exception):
    """A resource can't be created."""


class Account:
    """The resources of an account by type and name, or by their stack and logical id."""

    def __init__(self) -> None:
        self.resources: dict[tuple[str, str], Json] = {}

    def create(self, stack: str, template: Json, fails_at: str | None = None) -> None:
        """Create a stack; if a resource fails, delete what was created before it.

        Raises:
            Refused: a resource failed.
        """
        created: list[tuple[str, str]] = []
        try:
            for id in _sort(template["Resources"]):
                resource = template["Resources"][id]
                key = resource["Type"], _find_name(resource) or f"{stack}/{id}"
                if key in self.resources:
                    raise Refused(f"{key} exists already")
                self.resources[key] = resource
                created.append(key)
                if id == fails_at:
                    raise Refused(f"{id} fails, as the test wants")
        except Refused:
            self._roll_back(created)
            raise

    def _roll_back(self, created: list[tuple[str, str]]) -> None:
        for key in reversed(created):
            resource = self.resources[key]
            is_protected = any(f'"{each}": true' in json.dumps(resource) for each in _PROTECTIONS)
            if resource.get("DeletionPolicy", "Delete") != "Retain" and not is_protected:
                del self.resources[key]


def _find_name(resource: Json) -> str | None:
    properties = resource.get("Properties", {})
    names = [json.dumps(properties[each]) for each in _NAMES if each in properties]
    parent = json.dumps(
        [properties.get(each) for each in ("FunctionName", "ApiId", "EventBusName")]
    )
    return f"{names}{parent}" if names else None


def _sort(resources: dict[str, Json]) -> Iterator[str]:
    graph: TopologicalSorter[str] = TopologicalSorter()
    for id, resource in resources.items():
        text = json.dumps(resource)
        named = re.findall(r'"Ref": "(\w+)"|"Fn::GetAtt": \["(\w+)"', text)
        wanted = {each for pair in named for each in pair}
        needs = resource.get("DependsOn", [])
        wanted |= {needs} if isinstance(needs, str) else set(needs)
        graph.add(id, *(wanted & resources.keys() - {id}))
    yield from graph.static_order()


def _list_stacks(template: Template) -> list[tuple[str, Json]]:
    """List the stacks in the order of their creation."""
    return sorted(template.stacks.items(), key=lambda each: not each[0].endswith("-state"))


@pytest.mark.parametrize("kind", ["dev", "prod", "whole"])
def test_a_first_deployment_that_fails_at_any_resource_can_be_repeated(
    kind: str, request: pytest.FixtureRequest
) -> None:
    stacks = _list_stacks(request.getfixturevalue(kind))
    for place, (name, template) in enumerate(stacks):
        for failing in template["Resources"]:
            account = Account()
            for before in stacks[:place]:
                account.create(*before)
            kept = set(account.resources)
            with pytest.raises(Refused, match="as the test wants"):
                account.create(name, template, failing)
            assert account.resources.keys() == kept, failing
            for each in stacks[place:]:
                account.create(*each)


@pytest.mark.parametrize("kind", ["dev", "prod"])
def test_no_stack_is_protected_before_it_is_complete(
    kind: str, request: pytest.FixtureRequest
) -> None:
    template = request.getfixturevalue(kind)
    for name in template.stacks:
        properties = template.manifest["artifacts"][name]["properties"]
        assert not properties.get("terminationProtection")
