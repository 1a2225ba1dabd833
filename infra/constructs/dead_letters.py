"""Queues for what was given up; an alarm watches each."""

from aws_cdk import Duration, RemovalPolicy
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from infra.constructs.encryption import Encryption
from infra.constructs.nag_suppressions import suppress

_KEPT_DAYS = 14  # as long as SQS can


class DeadLetters(Construct):
    """One encrypted queue."""

    def __init__(self, scope: Construct, id: str, encryption: Encryption) -> None:
        super().__init__(scope, id)
        self.queue = sqs.Queue(
            self,
            "Queue",
            encryption=sqs.QueueEncryption.KMS,
            encryption_master_key=encryption.storage,
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
