import boto3, pytest
from operations.tenant_data import Storage, delete_tenant
from tests.contract.test_operations import filled, of, Bucket
from tests.contract.streaming import Stream, stream_function


def test_x(service, engine):
    if engine.name != "dynoxide":
        pytest.skip("")
    doomed = service.tenant("doomed")
    stream = Stream(service)
    deliver = stream_function(service)
    filled(doomed)
    print("fill", deliver(stream.read()))
    st = Storage(boto3.client("dynamodb"), (engine.memory, engine.log), Bucket(), "archive")
    n = [0]

    def wait(_):
        n[0] += 1
        print("failed", deliver(stream.read()))
        for e in of(service, "doomed"):
            print("LEFT", e[:300])

    delete_tenant(st, "doomed", wait)
    print(of(service, "doomed"), n)
    assert 0
