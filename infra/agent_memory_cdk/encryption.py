"""Keys: one for stored data, one for the data keys of sensitive values."""

from typing import cast

from aws_cdk import Aws, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from functions.platform.item_types import DEPLOYMENT_SECRET

from .retention import choose_removal_policy
from .settings import Settings

_FOR_TABLES = (
    "Decrypt",
    "DescribeKey",
    "Encrypt",
    "GenerateDataKey",
    "ReEncryptFrom",
    "ReEncryptTo",
)


class Encryption(Construct):
    """Two KMS keys, so that a reader of the tables can't decrypt sensitive values.

    Roles use the storage key only through the storing service, never directly. The policies of
    given keys must delegate to IAM, since they can't be changed from here.

    Attributes:
        storage: encrypts tables, queues, archive and the root key.
        logs_key: the same key for logs; None if it is given, since CloudWatch Logs uses a key by
            the key's own policy.
        values: wraps the data keys of values (RFC-0015 §9.2), for the API function alone, and of
            the deployment's secret. It is a multi-Region key, since a single-Region key can't
            become one.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        *,
        storage: kms.IKey | None = None,
        values: kms.IKey | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.storage = storage or self._make_key(settings, "Storage", "what is stored")
        self.logs_key = None if storage else self.storage
        if storage is None:
            self._let_logs_use(self.storage)
        self.values = values or self._make_key(
            settings, "Values", "the data keys of sensitive values", multi_region=True
        )

    @staticmethod
    def replicate_values(scope: Construct, settings: Settings, primary_arn: str) -> kms.IKey:
        """Create the replica of another Region's values key, to decrypt its data here."""
        key = kms.CfnReplicaKey(
            scope,
            "ValuesReplica",
            primary_key_arn=primary_arn,
            description=f"agent-memory {settings.name}: the data keys of sensitive values",
            key_policy=iam.PolicyDocument(
                statements=[
                    iam.PolicyStatement(
                        actions=["kms:*"], principals=[iam.AccountRootPrincipal()], resources=["*"]
                    )
                ]
            ),
            pending_window_in_days=30 if settings.retain else 7,
        )
        key.override_logical_id(settings.to_logical_id("ValuesKey"))
        key.apply_removal_policy(choose_removal_policy(settings))
        return kms.Key.from_key_arn(scope, "ValuesKey", key.attr_arn)

    def grant_use_tables(self, role: iam.Role) -> None:
        """Let a role read and write encrypted tables, as DynamoDB requires of callers."""
        self._grant(role, "dynamodb", *_FOR_TABLES)

    def grant_use_bucket(self, role: iam.Role) -> None:
        """Let a role put and get encrypted objects."""
        self._grant(role, "s3", "Decrypt", "GenerateDataKey")

    def grant_send(self, role: iam.Role) -> None:
        """Let a role send to encrypted queues."""
        self._grant(role, "sqs", "Decrypt", "GenerateDataKey")

    def grant_read_secrets(self, role: iam.Role) -> None:
        """Let a role read encrypted secrets."""
        self._grant(role, "secretsmanager", "Decrypt")

    def grant_wrap_values(self, role: iam.Role) -> None:
        """Let a role create and decrypt data keys."""
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[self.values.key_arn]
            )
        )

    def grant_open_secret(self, role: iam.Role) -> None:
        """Let a role decrypt the deployment's secret for seals, and no values."""
        named = {"kms:EncryptionContext:tenant": DEPLOYMENT_SECRET.partition}
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["kms:Decrypt"],
                resources=[self.values.key_arn],
                conditions={"StringEquals": named},
            )
        )

    def _grant(self, role: iam.Role, service: str, *actions: str) -> None:
        through = {"kms:ViaService": f"{service}.{Aws.REGION}.amazonaws.com"}
        role.add_to_policy(
            iam.PolicyStatement(
                actions=[f"kms:{action}" for action in actions],
                resources=[self.storage.key_arn],
                conditions={"StringEquals": through},
            )
        )

    @staticmethod
    def _let_logs_use(key: kms.IKey) -> None:
        """Let CloudWatch Logs use a key for logs of this account and Region."""
        logs = f"arn:{Aws.PARTITION}:logs:{Aws.REGION}:{Aws.ACCOUNT_ID}:log-group:*"
        key.add_to_resource_policy(
            iam.PolicyStatement(
                principals=[iam.ServicePrincipal(f"logs.{Aws.REGION}.amazonaws.com")],
                actions=["kms:Decrypt", "kms:DescribeKey", "kms:Encrypt", "kms:GenerateDataKey*"],
                resources=["*"],
                conditions={"ArnLike": {"kms:EncryptionContext:aws:logs:arn": logs}},
            )
        )

    def _make_key(
        self, settings: Settings, id: str, purpose: str, *, multi_region: bool = False
    ) -> kms.Key:
        key = kms.Key(
            self,
            id,
            description=f"agent-memory {settings.name}: {purpose}",
            enable_key_rotation=True,
            multi_region=multi_region,
            pending_window=Duration.days(30 if settings.retain else 7),
            removal_policy=choose_removal_policy(settings),
        )
        low = cast("kms.CfnKey", key.node.default_child)
        low.override_logical_id(settings.to_logical_id(f"{id}Key"))
        return key
