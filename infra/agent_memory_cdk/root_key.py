"""The operator's key: generated, and stored only in Secrets Manager."""

from typing import cast

from aws_cdk import aws_iam as iam
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from .encryption import Encryption
from .nag_suppressions import suppress
from .retention import choose_removal_policy
from .settings import Settings

_CHARACTERS = 43  # letters and digits: 256 bits


class RootKey(Construct):
    """A secret of letters and digits, unless one is given."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        encryption: Encryption,
        given: secretsmanager.ISecret | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.secret = given or self._make(settings, encryption)

    def _make(self, settings: Settings, encryption: Encryption) -> secretsmanager.Secret:
        secret = secretsmanager.Secret(
            self,
            "Secret",
            description=f"agent-memory {settings.name}: the operator's key, which makes tenants",
            encryption_key=encryption.storage,
            generate_secret_string=secretsmanager.SecretStringGenerator(
                password_length=_CHARACTERS, exclude_punctuation=True
            ),
            removal_policy=choose_removal_policy(settings),
        )
        low = cast("secretsmanager.CfnSecret", secret.node.default_child)
        low.override_logical_id(settings.to_logical_id("RootKey"))
        if settings.standby is not None:
            low.replica_regions = [
                secretsmanager.CfnSecret.ReplicaRegionProperty(
                    region=settings.standby.name, kms_key_id=settings.standby.storage_key_arn
                )
            ]
        suppress(
            secret,
            "running functions know it: an operator's command rotates it, and restarts them",
            "AwsSolutions-SMG4",
        )
        return secret

    def grant_read(self, role: iam.Role, encryption: Encryption) -> None:
        """Let a role read the key."""
        role.add_to_policy(
            iam.PolicyStatement(
                actions=["secretsmanager:GetSecretValue"], resources=[self.secret.secret_arn]
            )
        )
        encryption.grant_read_secrets(role)
