"""The bucket for expired conversations and large objects."""

from collections.abc import Sequence
from typing import cast

from aws_cdk import Aws, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_s3 as s3
from constructs import Construct

from .encryption import Encryption
from .nag_suppressions import suppress, wildcard_rule
from .retention import choose_removal_policy
from .settings import Settings

_RECOVERY_DAYS = 35  # as long as a table can be restored
_COLD_AFTER_DAYS = 30  # S3's minimum time before its cheaper class for rarely read objects


class Archive(Construct):
    """An encrypted bucket.

    It has versions only for backups, which need them. Then deleted data is removed when
    point-in-time recovery of the tables no longer has it; otherwise immediately.

    Attributes:
        name: of the bucket; a new one's has account and Region, since names of buckets are global.
        is_own: whether it is new.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        encryption: Encryption,
        given: s3.IBucket | None = None,
    ) -> None:
        super().__init__(scope, id)
        self._encryption = encryption
        own_name = f"agent-memory-{settings.name}-{Aws.ACCOUNT_ID}-{Aws.REGION}"
        self.name = given.bucket_name if given else own_name
        self.is_own = given is None
        self.bucket = given or self._make(settings)

    def _make(self, settings: Settings) -> s3.Bucket:
        has_versions = settings.backup_days is not None
        bucket = s3.Bucket(
            self,
            "Bucket",
            bucket_name=self.name,
            encryption=s3.BucketEncryption.KMS,
            encryption_key=self._encryption.storage,
            bucket_key_enabled=True,
            enforce_ssl=True,
            block_public_access=s3.BlockPublicAccess.BLOCK_ALL,
            object_ownership=s3.ObjectOwnership.BUCKET_OWNER_ENFORCED,
            versioned=has_versions,
            cors=_let_pages_use(settings.cors_origins),
            lifecycle_rules=[_clean_up(has_versions=has_versions), _cheaper_with_time()],
            auto_delete_objects=not settings.retain,
            removal_policy=choose_removal_policy(settings),
        )
        low = cast("s3.CfnBucket", bucket.node.default_child)
        low.override_logical_id(settings.to_logical_id("ArchiveBucket"))
        suppress(
            bucket,
            "only the functions reach it, and their calls are in the account's CloudTrail, where"
            " data events are on; a separate log would need a second bucket, with no log again",
            "AwsSolutions-S1",
        )
        return bucket

    def grant_list(self, role: iam.Role) -> None:
        """Let a role list the names of objects in the bucket."""
        role.add_to_policy(
            iam.PolicyStatement(actions=["s3:ListBucket"], resources=[self.bucket.bucket_arn])
        )

    def grant(self, role: iam.Role, *actions: str) -> None:
        """Let a role call these actions, such as `GetObject`, on objects in the bucket."""
        objects = f"arn:{Aws.PARTITION}:s3:::{self.name}/*"
        role.add_to_policy(
            iam.PolicyStatement(actions=[f"s3:{action}" for action in actions], resources=[objects])
        )
        self._encryption.grant_use_bucket(role)
        suppress(
            role,
            "the names of archives and objects are not known beforehand; the bucket is theirs",
            wildcard_rule(role, objects),
        )


def _let_pages_use(origins: Sequence[str]) -> list[s3.CorsRule] | None:
    """Let pages upload to signed addresses, and follow redirects to them.

    A browser names no origin (`null`) when it follows a redirect to another host, and sends the
    headers of the first request. The address alone gives access.
    """
    if not origins:
        return None
    return [
        s3.CorsRule(
            allowed_methods=[s3.HttpMethods.PUT],
            allowed_origins=list(origins),
            allowed_headers=["*"],
            exposed_headers=["ETag"],
        ),
        s3.CorsRule(
            allowed_methods=[s3.HttpMethods.GET], allowed_origins=["*"], allowed_headers=["*"]
        ),
    ]


def _clean_up(*, has_versions: bool) -> s3.LifecycleRule:
    return s3.LifecycleRule(
        abort_incomplete_multipart_upload_after=Duration.days(1),
        noncurrent_version_expiration=Duration.days(_RECOVERY_DAYS) if has_versions else None,
        expired_object_delete_marker=True if has_versions else None,
    )


def _cheaper_with_time() -> s3.LifecycleRule:
    return s3.LifecycleRule(
        prefix="conversations/",  # objects are read and overwritten as usual
        transitions=[
            s3.Transition(
                storage_class=s3.StorageClass.INFREQUENT_ACCESS,
                transition_after=Duration.days(_COLD_AFTER_DAYS),
            )
        ],
    )
