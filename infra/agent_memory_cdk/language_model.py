"""Grant functions the calls of models, and the key of an endpoint."""

from aws_cdk import Stack
from aws_cdk import aws_iam as iam

from functions.platform.embedding_models import strip_area

from .nag_suppressions import suppress, wildcard_rule

_PROVIDER = "bedrock:"


def grant_ask(role: iam.Role, models: str) -> None:
    """Let a role call only these models of Amazon Bedrock.

    An inference profile, such as `eu.anthropic.…`, calls its model in several Regions.
    """
    names = [each.strip() for each in models.split(",")]
    for name in names:
        if name.startswith(_PROVIDER):
            _grant_model(role, name.removeprefix(_PROVIDER))


def _grant_model(role: iam.Role, model: str) -> None:
    rest = strip_area(model)
    stack = Stack.of(role)
    own = stack.format_arn(
        service="bedrock", account="", resource="foundation-model", resource_name=model
    )
    if rest == model:
        resources = [own]
    else:
        profile = stack.format_arn(
            service="bedrock", resource="inference-profile", resource_name=model
        )
        everywhere = stack.format_arn(
            service="bedrock",
            region="*",
            account="",
            resource="foundation-model",
            resource_name=rest,
        )
        resources = [profile, everywhere]
        reason = "an inference profile calls its model in the Regions of its area"
        suppress(role, reason, wildcard_rule(role, everywhere))
    role.add_to_policy(iam.PolicyStatement(actions=["bedrock:InvokeModel"], resources=resources))


def grant_read_key(role: iam.Role, secret_arn: str) -> None:
    """Let a role read the key of an endpoint."""
    actions = ["secretsmanager:GetSecretValue"]
    role.add_to_policy(iam.PolicyStatement(actions=actions, resources=[secret_arn]))
