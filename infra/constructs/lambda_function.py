"""A function with its own role and its own log: alike for all entry points."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.config import Config
from infra.constructs.nag_suppressions import suppress

RETENTION = {
    "7": logs.RetentionDays.ONE_WEEK,
    "30": logs.RetentionDays.ONE_MONTH,
    "90": logs.RetentionDays.THREE_MONTHS,
    "365": logs.RetentionDays.ONE_YEAR,
}


class LambdaFunction(Construct):
    """One Lambda function.

    Attributes:
        role: what it may do: its own log and traces, and what is granted to it later.
        entry: what callers invoke: the function, or its published version where that is a snapshot.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        config: Config,
        code: lambda_.Code,
        *,
        handler: str,
        purpose: str,
        memory_mb: int,
        timeout: Duration,
        environment: dict[str, str],
        no_dead_letters_reason: str,
        snap_start: bool = False,
    ) -> None:
        super().__init__(scope, id)
        self.log = log_group(self, "Log", config)
        self.role = self._role(purpose)
        self.function = lambda_.Function(
            self,
            "Function",
            code=code,
            handler=handler,
            description=f"agent-memory {config.stage}: {purpose}",
            runtime=lambda_.Runtime(
                config.runtime, lambda_.RuntimeFamily.PYTHON, supports_snap_start=snap_start
            ),
            architecture=_architecture(config),
            memory_size=memory_mb,
            timeout=timeout,
            environment=environment,
            role=self.role,
            log_group=self.log,
            logging_format=lambda_.LoggingFormat.JSON,
            application_log_level_v2=lambda_.ApplicationLogLevel.INFO,
            system_log_level_v2=lambda_.SystemLogLevel.WARN,
            tracing=lambda_.Tracing.ACTIVE if config.tracing else lambda_.Tracing.DISABLED,
            snap_start=lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if snap_start else None,
        )
        self._suppress_findings(config, no_dead_letters_reason)
        self.entry: lambda_.IFunction = self._live() if snap_start else self.function

    def _role(self, purpose: str) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            description=f"agent-memory: {purpose}",
            assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"),
        )
        self.log.grant_write(role)
        return role

    def _suppress_findings(self, config: Config, no_dead_letters_reason: str) -> None:
        suppress(
            self.role,
            "X-Ray's actions know no resources",
            "AwsSolutions-IAM5[Resource::*]",
        )
        suppress(
            self.function,
            "it is built and tested for the Python that the context names, which Lambda supports",
            "AwsSolutions-L1",
            "Serverless-LambdaLatestVersion",
        )
        suppress(self.function, no_dead_letters_reason, "Serverless-LambdaDLQ")
        if not config.tracing:
            suppress(self.function, "the deployment records no traces", "Serverless-LambdaTracing")

    def _live(self) -> lambda_.Alias:
        return lambda_.Alias(self, "Live", alias_name="live", version=self.function.current_version)


def log_group(scope: Construct, id: str, config: Config) -> logs.LogGroup:
    """Make a log that is kept for as long as the deployment says, and goes with the stack."""
    return logs.LogGroup(
        scope,
        id,
        retention=RETENTION[config.log_retention_days],
        removal_policy=RemovalPolicy.RETAIN if config.retains else RemovalPolicy.DESTROY,
    )


def _architecture(config: Config) -> lambda_.Architecture:
    return lambda_.Architecture.custom(config.architecture)
