"""Keys: one for what AWS stores, one for the data keys of sensitive values."""

from aws_cdk import Aws, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from constructs import Construct

from infra.config import Config

_FOR_TABLES = (
    "Decrypt",
    "DescribeKey",
    "Encrypt",
    "GenerateDataKey",
    "ReEncryptFrom",
    "ReEncryptTo",
)


class Encryption(Construct):
    """Two KMS keys, so that who may read the tables still can't open sensitive values.

    The storage key serves roles through the service that stores, never by itself.

    Attributes:
        storage: encrypts tables, queues, archive and the root key.
        values: wraps the data keys of values (RFC-0015 §9.2); for the API function alone.
    """

    def __init__(self, scope: Construct, id: str, config: Config) -> None:
        super().__init__(scope, id)
        self.storage = _key(self, "Storage", config, "what is stored")
        self.values = _key(self, "Values", config, "the data keys of sensitive values")

    def grant_use_tables(self, role: iam.Role) -> None:
        """Let a role read and write encrypted tables: what DynamoDB asks of who calls it."""
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
        """Let a role make data keys, and open them again."""
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["kms:Decrypt", "kms:GenerateDataKey"], resources=[self.values.key_arn]
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


def _key(scope: Construct, id: str, config: Config, purpose: str) -> kms.Key:
    return kms.Key(
        scope,
        id,
        description=f"agent-memory {config.stage}: {purpose}",
        enable_key_rotation=True,
        pending_window=Duration.days(30 if config.retains else 7),
        removal_policy=RemovalPolicy.RETAIN if config.retains else RemovalPolicy.DESTROY,
    )
