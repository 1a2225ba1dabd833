"""A synthesized template, as the tests ask about it."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Properties = dict[str, Any]
PARTITION = "partition:"  # before an action: it was called on such a partition
FUNCTIONS = ("Api", "Stream", "Schedule")


@dataclass(frozen=True, eq=False)
class Template:
    """The templates of an app's stacks as one, and the manifest of the assembly they came in.

    Attributes:
        prefix: of the pinned logical ids, as in `Dev`.
        stacks: the templates themselves, by the names of their stacks.
    """

    document: dict[str, Any]
    manifest: dict[str, Any]
    prefix: str = "Dev"
    stacks: dict[str, dict[str, Any]] = field(default_factory=dict)

    def of_type(self, kind: str) -> dict[str, dict[str, Any]]:
        """The resources of a type, as in `Lambda::Function`, by their logical ids."""
        resources: dict[str, dict[str, Any]] = self.document["Resources"]
        return {id: each for id, each in resources.items() if each["Type"] == f"AWS::{kind}"}

    def named(self, kind: str, start: str) -> Properties:
        """The properties of the one resource of a type whose logical id begins so."""
        found = [each for id, each in self.of_type(kind).items() if self._begins(id, start)]
        assert len(found) == 1, (kind, start, len(found))
        properties: Properties = found[0]["Properties"]
        return properties

    def one(self, kind: str) -> Properties:
        """The properties of the only resource of a type."""
        return self.named(kind, "")

    def function(self, function: str) -> Properties:
        return self.named("Lambda::Function", f"{function}Function")

    def alias(self, function: str) -> dict[str, str]:
        """Reference the alias by which a function is invoked."""
        return {"Ref": self.id_of("Lambda::Alias", f"{function}Function")}

    def statements(self, start: str) -> Iterator[Properties]:
        """All that the policy of the role whose logical id begins so allows."""
        policy = self.named("IAM::Policy", start)
        yield from policy["PolicyDocument"]["Statement"]

    def id_of(self, kind: str, start: str) -> str:
        """The logical id of the one resource of a type whose logical id begins so."""
        found = [id for id in self.of_type(kind) if self._begins(id, start)]
        assert len(found) == 1, (kind, start, found)
        return found[0]

    def _begins(self, id: str, start: str) -> bool:
        return id.removeprefix(self.prefix).startswith(start)


def as_list(value: Any) -> list[Any]:
    """Return a list where IAM writes one element or a list."""
    return value if isinstance(value, list) else [value]
