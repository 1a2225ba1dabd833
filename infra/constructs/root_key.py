"""The operator's key: generated, and nowhere but in Secrets Manager."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from infra.config import Config
from infra.constructs.encryption import Encryption
from infra.constructs.nag_suppressions import suppress

_CHARACTERS = 43  # letters and digits: 256 bits


class RootKey(Construct):
    """A secret of letters and digits."""

    def __init__(self, scope: Construct, id: str, config: Config, encryption: Encryption) -> None:
        super().__init__(scope, id)
        self.secret = secretsmanager.Secret(
            self,
            "Secret",
            description=f"agent-memory {config.stage}: the operator's key, which makes tenants",
            encryption_key=encryption.storage,
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=_CHARACTERS, exclude_punctuation=True
            ),
            removal_policy=RemovalPolicy.RETAIN if config.retains else RemovalPolicy.DESTROY,
        )

        suppress(
            self.secret,
            "keys that were answered under an Idempotency-Key are derived from it (decision 6), and"
            " running functions know it: the operator rotates it, when nobody retries",
            "AwsSolutions-SMG4",
        )

    def grant_read(self, role: iam.Role, encryption: Encryption) -> None:
        """Let a role read the key."""
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["secretsmanager:GetSecretValue"], resources=[self.secret.secret_arn]
            )
        )
        encryption.grant_read_secrets(role)
