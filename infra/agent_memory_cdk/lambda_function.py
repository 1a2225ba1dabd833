"""A function with its own role and log, the same for all entry points."""

from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_ec2 as ec2
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from .code import FunctionCode
from .logs import Logs
from .nag_suppressions import suppress
from .retention import choose_removal_policy
from .settings import Settings

_ALIAS = "live"
_NETWORK_INTERFACES = (
    "AssignPrivateIpAddresses",
    "CreateNetworkInterface",
    "DeleteNetworkInterface",
    "DescribeNetworkInterfaces",
    "DescribeSubnets",
    "UnassignPrivateIpAddresses",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """The network of functions: a VPC with endpoints or a NAT for the services that they call.

    DynamoDB, S3, KMS, Secrets Manager, Systems Manager, EventBridge, and Bedrock if used.
    """

    vpc: ec2.IVpc
    subnets: ec2.SubnetSelection | None = None
    security_groups: tuple[ec2.ISecurityGroup, ...] = ()


class LambdaFunction(Construct):
    """A Lambda function, invoked only by its alias, which is moved to each new version.

    Attributes:
        role: permits its log and traces, and later grants.
        version: the version that is being deployed.
        alias: for callers.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        code: FunctionCode,
        logs: Logs,
        *,
        part: str,
        handler: str,
        purpose: str,
        memory_mb: int,
        timeout: Duration,
        environment: dict[str, str],
        no_dead_letters_reason: str,
        network: Network | None = None,
        snap_start: bool = False,
        concurrency: int | None = None,
    ) -> None:
        """`concurrency` is reserved for the function, and its maximum."""
        super().__init__(scope, id)
        self.log = logs.get(self, "Log", part)
        self.role = self._role(purpose)
        if network is not None:
            self._grant_network()
        self.function = lambda_.Function(
            self,
            "Function",
            code=code.to_asset(),
            handler=handler,
            description=f"agent-memory {settings.name}: {purpose}",
            runtime=lambda_.Runtime(
                code.runtime, lambda_.RuntimeFamily.PYTHON, supports_snap_start=snap_start
            ),
            architecture=lambda_.Architecture.custom(code.architecture),
            memory_size=memory_mb,
            timeout=timeout,
            reserved_concurrent_executions=concurrency,
            environment=environment,
            role=self.role,
            vpc=network.vpc if network else None,
            vpc_subnets=network.subnets if network else None,
            security_groups=list(network.security_groups) or None if network else None,
            log_group=self.log,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            tracing=lambda_.Tracing.ACTIVE if settings.tracing else lambda_.Tracing.DISABLED,
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if snap_start else None,
            current_version_options=lambda_.VersionOptions(
                removal_policy=choose_removal_policy(settings)
            ),
        )
        self._suppress_findings(settings, no_dead_letters_reason)
        self.version = self.function.current_version
        self.alias = lambda_.Alias(self, "Live", alias_name=_ALIAS, version=self.version)

    def _role(self, purpose: str) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            description=f"agent-memory: {purpose}",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        self.log.grant_write(role)
        return role

    def _grant_network(self) -> None:
        actions = [f"ec2:{action}" for action in _NETWORK_INTERFACES]
        self.role.add_to_policy(iam.PolicyStatement(actions=actions, resources=["*"]))

    def _suppress_findings(self, settings: Settings, no_dead_letters_reason: str) -> None:
        suppress(
            self.role,
            "X-Ray's actions and those on network interfaces know no resources",
            "AwsSolutions-IAM5[Resource::*]",
        )
        suppress(
            self.function,
            "its code is built and tested for this Python, which Lambda supports",
            "AwsSolutions-L1",
            "Serverless-LambdaLatestVersion",
        )
        suppress(self.function, no_dead_letters_reason, "Serverless-LambdaDLQ")
        if not settings.tracing:
            suppress(self.function, "the deployment records no traces", "Serverless-LambdaTracing")
