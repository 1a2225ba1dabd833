"""Find changes that an upgrade must not make to a deployment with data.

`python -m infra.upgrades` stores the resources of this release, to compare the next one with.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
Resources = Mapping[str, Json]

RELEASED = Path(__file__).parent / "released.json"
_TABLE = "AWS::DynamoDB::GlobalTable"
_KEPT = ("Retain", "RetainExceptOnCreate")
_REPLACED_BY = {  # properties whose change replaces the resource, or fails
    _TABLE: ("TableName", "KeySchema"),
    "AWS::KMS::Key": ("KeySpec", "KeyUsage", "MultiRegion", "Origin"),
    "AWS::S3::Bucket": ("BucketName",),
    "AWS::SecretsManager::Secret": ("Name", "GenerateSecretString"),
    "AWS::Events::EventBus": ("Name",),
    "AWS::Logs::LogGroup": ("LogGroupName",),
    "AWS::SQS::Queue": ("QueueName", "FifoQueue"),
    "AWS::ApiGatewayV2::Api": ("ProtocolType",),
    "AWS::Lambda::EventSourceMapping": ("EventSourceArn", "StartingPosition"),
    "AWS::SSM::Parameter": ("Name",),
}


def find_hazards(released: Resources, now: Resources) -> list[str]:
    """List what an upgrade from one release's resources to another's would lose, or can't do."""
    return [hazard for id, before in released.items() for hazard in _compare(id, before, now)]


def select_stateful(resources: Resources) -> Json:
    """Select resources with data, or that others refer to."""
    return {id: each for id, each in sorted(resources.items()) if each["Type"] in _REPLACED_BY}


def _compare(id: str, before: Json, resources: Resources) -> Iterator[str]:
    after = resources.get(id)
    if after is None or after["Type"] != before["Type"]:
        yield f"{id} ({before['Type']}) would be removed: its logical id or its type has changed"
        return
    old, new = before["Properties"], after["Properties"]
    for name in _REPLACED_BY[before["Type"]]:
        if old.get(name) != new.get(name):
            yield f"{id}.{name} has changed: the resource would be replaced"
    for policy in ("DeletionPolicy", "UpdateReplacePolicy"):
        if before.get(policy) in _KEPT and after.get(policy) not in _KEPT:
            yield f"{id} would not be kept: its {policy} was {before[policy]}"
    if before["Type"] == _TABLE:
        yield from _compare_tables(id, old, new)


def _compare_tables(id: str, old: Json, new: Json) -> Iterator[str]:
    """Compare properties that a live table changes one at a time, or never."""
    changes = count_index_changes(old, new)
    if changes > 1:
        yield f"{id} has {changes} changes of indexes: DynamoDB allows one in each update"
    if old.get("StreamSpecification") != new.get("StreamSpecification"):
        yield f"{id} has another stream: unread records would be lost"
    types = _by_name(new.get("AttributeDefinitions"), "AttributeName")
    for name, attribute in _by_name(old.get("AttributeDefinitions"), "AttributeName").items():
        if types.get(name, attribute) != attribute:
            yield f"{id} has another type of {name}: the table would be replaced"
    setting = "PointInTimeRecoverySpecification"
    before, after = (_own_replica(table).get(setting) for table in (old, new))
    if before and after != before:
        yield f"{id} has lost {setting}"


def count_index_changes(old: Json, new: Json) -> int:
    """Count created and deleted indexes; a changed index counts twice."""
    changes = 0
    for kind in ("GlobalSecondaryIndexes", "VectorIndexes"):
        before, after = (_by_name(each.get(kind), "IndexName") for each in (old, new))
        changed = [name for name in before.keys() & after.keys() if before[name] != after[name]]
        changes += len(before.keys() ^ after.keys()) + 2 * len(changed)
    return changes


def _own_replica(table: Json) -> Json:
    return next(iter(table.get("Replicas", ())), {})


def _by_name(listed: list[Json] | None, name: str) -> dict[str, Json]:
    return {each[name]: each for each in listed or ()}


def merge_templates(templates: Mapping[str, Json]) -> Json:
    """Merge the templates of stacks, by their names, into one without references between them."""
    merged: Json = {"Resources": {}, "Outputs": {}}
    for template in templates.values():
        for part, known in merged.items():
            known.update(template.get(part, {}))
    resolved: Json = _resolve(merged, templates)
    return resolved


def _resolve(part: Any, templates: Mapping[str, Json]) -> Any:
    """Replace each reference to a stack's output by its value."""
    if isinstance(part, list):
        return [_resolve(each, templates) for each in part]
    if not isinstance(part, dict):
        return part
    if "Fn::GetStackOutput" in part:
        output = part["Fn::GetStackOutput"]
        return templates[output["StackName"]]["Outputs"][output["OutputName"]]["Value"]
    return {name: _resolve(each, templates) for name, each in part.items()}


def _synthesize() -> Json:
    """Synthesize the resources of a deployment for production."""
    from aws_cdk import App  # noqa: PLC0415 - comparing needs none of it

    from infra.app import make  # noqa: PLC0415 - as above
    from infra.config import Config  # noqa: PLC0415 - as above

    context = json.loads((Path(__file__).parents[1] / "cdk.json").read_text())["context"]
    app = App(context=context | {"stage": "prod"})
    make(app, Config.from_context(app.node.get_all_context()))
    templates = {each.stack_name: each.template for each in app.synth().stacks}
    return select_stateful(merge_templates(templates)["Resources"])


if __name__ == "__main__":
    RELEASED.write_text(json.dumps(_synthesize(), indent=1) + "\n")
