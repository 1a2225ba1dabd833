"""The state of a memory: keys, tables, root key and archive."""

from aws_cdk import Tags
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_secretsmanager as secretsmanager
from constructs import Construct

from .archive import Archive
from .backups import Backups
from .encryption import Encryption
from .root_key import RootKey
from .settings import Settings
from .tables import TableArns, Tables


class State(Construct):
    """The resources that must survive a change of the functions, new or given.

    Put it into a separate stack, so that the functions' stack can be replaced. Logical ids depend
    only on the memory's name.

    Args:
        storage_key: encrypts stored data. Given tables, bucket and secret must be encrypted by it.
        values_key: wraps the data keys of sensitive values; must be a multi-Region key for a second
            Region.
        memory_table: with its stream's ARN, if it is imported.
        log_table: without a stream.
        archive_bucket: for archived conversations and large objects.
        also_grant: two more tables that functions may use: those that will replace these, or were
            replaced.
        root_key: a secret with the operator's key: at least 16 characters.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        settings: Settings,
        *,
        storage_key: kms.IKey | None = None,
        values_key: kms.IKey | None = None,
        memory_table: dynamodb.ITable | None = None,
        log_table: dynamodb.ITable | None = None,
        archive_bucket: s3.IBucket | None = None,
        root_key: secretsmanager.ISecret | None = None,
        also_grant: TableArns | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.encryption = Encryption(
            self, "Encryption", settings, storage=storage_key, values=values_key
        )
        self.tables = Tables(
            self,
            "Tables",
            settings,
            self.encryption,
            memory=memory_table,
            log=log_table,
            also_grant=also_grant,
        )
        self.root_key = RootKey(self, "RootKey", settings, self.encryption, root_key)
        self.archive = Archive(self, "Archive", settings, self.encryption, archive_bucket)
        if settings.backup_days is not None:
            Backups(self, "Backups", settings, self.encryption, self.tables, self.archive)
        Tags.of(self).add("service", "agent-memory")
        Tags.of(self).add("memory", settings.name)
