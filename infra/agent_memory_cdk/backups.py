"""Daily backups of the tables and the archive, in addition to point-in-time recovery."""

from typing import cast

from aws_cdk import Duration
from aws_cdk import aws_backup as backup
from aws_cdk import aws_events as events
from aws_cdk import aws_iam as iam
from constructs import Construct

from .archive import Archive
from .encryption import Encryption
from .nag_suppressions import suppress
from .retention import choose_removal_policy
from .settings import Settings
from .tables import Tables

_FOR_TABLES = "service-role/AWSBackupServiceRolePolicyForBackup"
_FOR_BUCKETS = "AWSBackupServiceRolePolicyForS3Backup"
_AT_NIGHT = events.Schedule.cron(hour="3", minute="0")  # UTC


class Backups(Construct):
    """A vault and a plan of AWS Backup for both tables in use and the archive; copies on demand.

    The owner of a given archive bucket backs it up.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        encryption: Encryption,
        tables: Tables,
        archive: Archive,
    ) -> None:
        super().__init__(scope, id)
        kept = Duration.days(settings.backup_days or 1)
        vault = self._make_vault(settings, encryption)
        rule = backup.BackupPlanRule(
            rule_name="daily",
            backup_vault=vault,
            schedule_expression=_AT_NIGHT,
            delete_after=kept,
            copy_actions=self._list_copies(settings.backup_copy_vault_arn, kept),
        )
        plan = backup.BackupPlan(
            self,
            "Plan",
            backup_plan_name=f"agent-memory-{settings.name}",
            backup_plan_rules=[rule],
        )
        arns = [tables.memory.table_arn, tables.log.table_arn]
        if archive.is_own:
            arns.append(archive.bucket.bucket_arn)
        plan.add_selection(
            "Tables",
            resources=[backup.BackupResource.from_arn(arn) for arn in arns],
            role=self._make_role(with_bucket=archive.is_own),
        )

    def _make_vault(self, settings: Settings, encryption: Encryption) -> backup.BackupVault:
        vault = backup.BackupVault(
            self,
            "Vault",
            encryption_key=encryption.storage,
            removal_policy=choose_removal_policy(settings),
        )
        low = cast("backup.CfnBackupVault", vault.node.default_child)
        low.override_logical_id(settings.to_logical_id("BackupVault"))
        return vault

    def _list_copies(
        self, vault_arn: str | None, kept: Duration
    ) -> list[backup.BackupPlanCopyActionProps]:
        if vault_arn is None:
            return []
        vault = backup.BackupVault.from_backup_vault_arn(self, "CopyVault", vault_arn)
        return [backup.BackupPlanCopyActionProps(destination_backup_vault=vault, delete_after=kept)]

    def _make_role(self, *, with_bucket: bool) -> iam.Role:
        role = iam.Role(
            self,
            "Role",
            description="agent-memory: backs up tables and buckets",
            assumed_by=iam.ServicePrincipal("backup.amazonaws.com"),
        )
        policies = [_FOR_TABLES]  # which the CDK attaches by itself
        if with_bucket:
            policies.append(_FOR_BUCKETS)
            role.add_managed_policy(iam.ManagedPolicy.from_aws_managed_policy_name(_FOR_BUCKETS))
        for policy in policies:
            suppress(
                role,
                "it is the policy that AWS keeps for just this",
                f"AwsSolutions-IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{policy}]",
            )
        return role
