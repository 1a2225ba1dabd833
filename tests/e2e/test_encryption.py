"""Sensitive values under the stack's KMS key, as they lie in the table."""

import pytest

from functions.platform import item_types
from tests.contract.bodies import create, entry, read
from tests.contract.expect import ok
from tests.contract.service import Tenant
from tests.e2e.deployment import Deployment
from tests.e2e.fixtures import E2E

pytestmark = E2E
WORD = "xylophone"


def test_a_sensitive_value_is_stored_under_its_tenants_data_key(
    deployment: Deployment, tenant: Tenant
) -> None:
    ada = tenant.agent("ada")
    made = create(ada, entry(sensitivity="confidential", value={"word": WORD}))
    assert ok(read(ada, made["id"]))["value"] == {"word": WORD}
    partition = item_types.AGENT.build_partition(tenant.id, agent="ada")
    (stored,) = (each for each in deployment.items("MemoryTable", partition) if "value" in each)
    assert WORD.encode() not in stored["value"]["B"]
    kms, wrapped = deployment.cloud.client("kms"), stored["data_key"]["B"]
    opened = kms.decrypt(CiphertextBlob=wrapped, EncryptionContext={"tenant": tenant.id})
    assert len(opened["Plaintext"]) == 32
    with pytest.raises(kms.exceptions.InvalidCiphertextException):
        kms.decrypt(CiphertextBlob=wrapped, EncryptionContext={"tenant": "another"})


def test_tables_are_set_up_as_the_stack_says(deployment: Deployment) -> None:
    dynamodb = deployment.cloud.client("dynamodb")
    for table in (deployment.outputs["MemoryTable"], deployment.outputs["LogTable"]):
        backups = dynamodb.describe_continuous_backups(TableName=table)
        recovery = backups["ContinuousBackupsDescription"]["PointInTimeRecoveryDescription"]
        assert recovery["PointInTimeRecoveryStatus"] == "ENABLED"
        expiry = dynamodb.describe_time_to_live(TableName=table)["TimeToLiveDescription"]
        assert expiry == {"TimeToLiveStatus": "ENABLED", "AttributeName": "ttl_at"}
        assert (
            dynamodb.describe_table(TableName=table)["Table"]["SSEDescription"]["SSEType"] == "KMS"
        )
