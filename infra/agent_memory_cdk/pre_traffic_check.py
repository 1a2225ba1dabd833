"""Check a new version before it gets requests, by a hook of CodeDeploy."""

from pathlib import Path

from aws_cdk import Duration
from aws_cdk import aws_codedeploy as codedeploy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from .lambda_function import LambdaFunction
from .logs import Logs
from .nag_suppressions import suppress, wildcard_rule

_CODE = Path(__file__).with_name("pre_traffic_hook.py")


class PreTrafficCheck(Construct):
    """Sends a health request through a function's new version; if it fails, nothing is shifted."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        checked: LambdaFunction,
        logs: Logs,
        group: codedeploy.LambdaDeploymentGroup,
    ) -> None:
        super().__init__(scope, id)
        log = logs.get(self, "Log", "PreTraffic")
        role = iam.Role(
            self,
            "Role",
            description="agent-memory: checks a new version before it gets requests",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        log.grant_write(role)
        versions = f"{checked.function.function_arn}:*"
        role.add_to_policy(
            iam.PolicyStatement(actions=["lambda:InvokeFunction"], resources=[versions])
        )
        hook = lambda_.Function(
            self,
            "Hook",
            code=lambda_.Code.from_inline(_CODE.read_text("utf-8")),
            handler="index.handler",
            description="agent-memory: checks a new version before it gets requests",
            runtime=lambda_.Runtime(
                checked.function.runtime.name,
                lambda_.RuntimeFamily.PYTHON,
                supports_inline_code=True,
            ),
            memory_size=256,
            timeout=Duration.minutes(1),
            environment={"NEW_VERSION": checked.version.function_arn},
            role=role,
            log_group=log,
            logging_format=lambda_.LoggingFormat.JSON,
        )
        suppress(
            role,
            "a policy of each version alone would be too new for IAM when the hook runs",
            wildcard_rule(role, versions),
        )
        suppress(
            group.role,
            "CodeDeploy invokes the hook, whichever version it is",
            wildcard_rule(group.role, f"{hook.function_arn}:*"),
        )
        suppress(
            hook,
            "it is the Python of the function that it checks",
            "AwsSolutions-L1",
            "Serverless-LambdaLatestVersion",
        )
        suppress(hook, "CodeDeploy waits for what it says", "Serverless-LambdaDLQ")
        suppress(hook, "it is one call, and its log has the answer", "Serverless-LambdaTracing")
        group.add_pre_hook(hook)
        checked.alias.node.add_dependency(hook)  # which knows the new version at the call
