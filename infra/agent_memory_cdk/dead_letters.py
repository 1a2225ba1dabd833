"""Dead-letter queues; an alarm watches each."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from .encryption import Encryption
from .nag_suppressions import suppress

_KEPT_DAYS = 14  # SQS's maximum


class DeadLetters(Construct):
    """One encrypted queue: by a key of the memory's, or by SQS's own.

    A service without one of our roles could use our key only if the key's policy allowed it. With
    SQS's own key, it needs no permission.
    """

    def __init__(self, scope: Construct, id: str, encryption: Encryption | None) -> None:
        super().__init__(scope, id)
        kinds = sqs.QueueEncryption
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=kinds.KMS if encryption else kinds.SQS_MANAGED,
            encryption_master_key=encryption.storage if encryption else None,
            enforce_ssl=True,
            retention_period=Duration.days(_KEPT_DAYS),
            removal_policy=RemovalPolicy.DESTROY,
        )
        suppress(
            self.queue,
            "it is a queue of dead letters itself, of a stream and of a schedule; people read it",
            "AwsSolutions-SQS3",
            "Serverless-SQSRedrivePolicy",
        )
