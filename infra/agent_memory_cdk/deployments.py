"""Deploy new versions by CodeDeploy, with alarms that roll them back."""

from collections.abc import Sequence

from aws_cdk import Aws
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_codedeploy as codedeploy
from aws_cdk import aws_iam as iam
from constructs import Construct

from .lambda_function import LambdaFunction
from .nag_suppressions import suppress
from .settings import TrafficShift

_CONFIG = codedeploy.LambdaDeploymentConfig
_SHIFTS: dict[TrafficShift, codedeploy.ILambdaDeploymentConfig] = {
    "canary": _CONFIG.CANARY_10_PERCENT_5_MINUTES,
    "linear": _CONFIG.LINEAR_10_PERCENT_EVERY_1_MINUTE,
    "all-at-once": _CONFIG.ALL_AT_ONCE,
}
_MANAGED_POLICY = "AWSCodeDeployRoleForLambdaLimited"


class Deployments(Construct):
    """Moves the alias of each function to its new version, and back if an alarm is raised.

    Roles, policies and tables aren't part of a version: they change first, and immediately. So a
    release adds what a later one needs.
    """

    def __init__(self, scope: Construct, id: str) -> None:
        super().__init__(scope, id)
        self._application = codedeploy.LambdaApplication(self, "Application")
        self._role = iam.Role(
            self,
            "Role",
            description="agent-memory: moves aliases to new versions",
            assumed_by=iam.ServicePrincipal(
                "codedeploy.amazonaws.com",
                conditions={"StringEquals": {"aws:SourceAccount": Aws.ACCOUNT_ID}},
            ),
        )
        suppress(
            self._role,
            "it is the policy that AWS keeps for just this",
            f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/service-role/{_MANAGED_POLICY}]",
        )

    def shift(
        self,
        name: str,
        function: LambdaFunction,
        how: TrafficShift,
        alarms: Sequence[cloudwatch.IAlarm],
    ) -> codedeploy.LambdaDeploymentGroup:
        """Shift requests to new versions of a function in this way, until an alarm is raised."""
        return codedeploy.LambdaDeploymentGroup(
            self,
            name,
            application=self._application,
            alias=function.alias,
            deployment_config=_SHIFTS[how],
            alarms=list(alarms),
            auto_rollback=codedeploy.AutoRollbackConfig(
                failed_deployment=True, stopped_deployment=True, deployment_in_alarm=True
            ),
            role=self._role,
        )
