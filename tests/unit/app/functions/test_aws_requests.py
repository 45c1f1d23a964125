"""AWS without boto3: the same signatures, stores and errors."""

import asyncio
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.aws.bundles import S3BundleStore
from gofer.app.functions.aws_http import ATTEMPTS, TIMEOUT, WITHIN, Account, Signer, Wire, read_account
from gofer.app.functions.aws_requests import LightDynamo, LightParameters, LightS3, LightSqs
from gofer.app.functions.parameter_store import SsmParameters
from gofer.app.functions.receiver import RESERVE, SOON
from gofer.journal.coordination import Head, InboxItem
from gofer.stores.aws.calls import Aws
from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.stores.aws.journal import DynamoStore
from gofer.stores.aws.queue import SqsQueue
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.outside import SystemClock
from gofer.values.secret import Secret
from support.aws import moto_server
from support.aws.template import written
from support.http.threaded_server import Requests, serving
from support.stand_ins import NOON, SetClock

NOWHERE = Account("testing", Secret("testing"), "token", moto_server.REGION, "http://127.0.0.1:9")


def wire(service: str, endpoint: str = "", bucket: str = "") -> Wire:
    account = Account("testing", Secret("testing"), "token", moto_server.REGION, endpoint or moto_server.server())
    WIRES.append(Wire(account, service, SystemClock(), bucket))
    return WIRES[-1]


WIRES: list[Wire] = []


@pytest.fixture(autouse=True)
def connections_are_closed() -> Iterator[None]:
    yield
    while WIRES:
        WIRES.pop().close()


plain = st.text(st.characters(codec="ascii", min_codepoint=33), min_size=1, max_size=20)


@given(
    service=st.sampled_from(["dynamodb", "sqs", "ssm"]),
    body=st.binary(max_size=200),
    target=plain,
    token=st.sampled_from(["", "session/token=="]),
    at=st.integers(1_700_000_000, 1_900_000_000),
)
def test_request_signature_equals_that_of_botocore(service: str, body: bytes, target: str, token: str, at: int) -> None:
    given_headers = {"content-type": "application/x-amz-json-1.0", "x-amz-target": target}
    host = f"{service}.eu-central-1.amazonaws.com"
    ours = Signer("AKID", Secret("secret"), token, "eu-central-1", service).headers(
        "POST", host, "/", given_headers, body, float(at)
    )
    request = AWSRequest("POST", f"https://{host}/", headers=dict(given_headers), data=body)
    request.context["timestamp"] = datetime.fromtimestamp(at, UTC).strftime("%Y%m%dT%H%M%SZ")
    auth = SigV4Auth(Credentials("AKID", "secret", token or None), service, "eu-central-1")
    request.headers["X-Amz-Date"] = request.context["timestamp"]
    if token:
        request.headers["X-Amz-Security-Token"] = token
    canonical = auth.canonical_request(request)
    signature = auth.signature(auth.string_to_sign(request, canonical), request)
    assert ours["authorization"].endswith(f"Signature={signature}")
    assert ours["host"] == host


@given(st.sampled_from(["bundles/current.json", "bundles/20261121T120000Z-0123456789ab.routes.json"]))
def test_s3_read_signature_equals_that_of_botocore(key: str) -> None:
    host = "bucket.s3.eu-central-1.amazonaws.com"
    ours = Signer("AKID", Secret("secret"), "", "eu-central-1", "s3").headers("GET", host, f"/{key}", {}, b"", NOON)
    request = AWSRequest("GET", f"https://{host}/{key}", data=b"")
    request.context["timestamp"] = ours["x-amz-date"]
    request.headers["X-Amz-Date"] = ours["x-amz-date"]
    request.headers["X-Amz-Content-SHA256"] = ours["x-amz-content-sha256"]
    auth = S3SigV4Auth(Credentials("AKID", "secret"), "s3", "eu-central-1")
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    assert ours["authorization"].endswith(f"Signature={signature}")


def test_dynamodb_store_without_boto3_claims_fences_and_reads_bytes_back() -> None:
    made = moto_server.new_table()
    store = DynamoStore(DynamoTable(Aws(2), LightDynamo(wire("dynamodb")), made._name, made._keys))
    frame, key = bytes(range(256)), b"\x00\xff"

    async def play() -> None:
        assert await store.claim("run1", frame, key, 5) is None
        assert await store.claim("run1", b"other", b"k", 6) == frame
        assert (await store.frames("run1"), await store.key("run1")) == ([frame], key)
        assert await store.create("run1", 2, b"second") is None
        assert await store.create("run1", 2, b"of another") == b"second"
        await store.create_head(Head("run1", "w", "c", 5, frames=1))
        head = await store.head("run1")
        assert head is not None
        assert (head.workflow, head.frames) == ("w", 1)
        await store.put_item("run1", InboxItem("i1", b"\xfe"))
        assert [item.entry for item in await store.items("run1")] == [b"\xfe"]

    asyncio.run(play())


def test_sqs_queue_without_boto3_enqueues_receives_and_acknowledges() -> None:
    url, dead = moto_server.new_queues()
    queue = SqsQueue(Aws(2), LightSqs(wire("sqs")), url, dead, SystemClock())

    async def play() -> None:
        await queue.enqueue("run1")
        (queue_message,) = await queue.receive(5, 30, 1)
        assert queue_message.run == "run1"
        await queue.acknowledge(queue_message)
        await queue.acknowledge(queue_message)
        assert await queue.receive(5, 30, 0) == []

    asyncio.run(play())


def test_s3_bundle_store_without_boto3_reads_one_key() -> None:
    bucket = moto_server.new_bucket()
    moto_server.client("s3").put_object(Bucket=bucket, Key="bundles/a b.json", Body=b"{}")
    bundles = S3BundleStore(Aws(2), LightS3(wire("s3", bucket=bucket)), bucket)

    async def play() -> None:
        found = await bundles.read("bundles/a b.json")
        assert found is not None
        assert (found.body, bool(found.tag)) == (b"{}", True)
        assert await bundles.read("bundles/none.json") is None

    asyncio.run(play())


@pytest.mark.parametrize("light", [True, False])
def test_ssm_parameters_are_read_by_name_and_missing_names_left_out(light: bool) -> None:
    names = [f"/gofer/light/P{number}" for number in range(12)]
    for name in names:
        moto_server.client("ssm").put_parameter(Name=name, Value=name[-2:], Type="SecureString", Overwrite=True)
    store = LightParameters(wire("ssm")) if light else SsmParameters(moto_server.client("ssm"))
    assert store.read([*names, "/gofer/light/none"]) == {name: name[-2:] for name in names}


def test_missing_aws_resource_is_reported_as_with_boto3() -> None:
    store = DynamoStore(DynamoTable(Aws(1), LightDynamo(wire("dynamodb")), "no-such-table", "no-keys"))
    with pytest.raises(ConfigError, match="AWS does not know the table of GOFER_TABLE"):
        asyncio.run(store.head("run1"))
    queue = SqsQueue(Aws(1), LightSqs(wire("sqs")), f"{moto_server.server()}/1/none", "", SystemClock())
    with pytest.raises(ConfigError, match="AWS does not know the queue"):
        asyncio.run(queue.enqueue("run1"))


@contextmanager
def answering(*answers: tuple[int, bytes]) -> Iterator[tuple[str, list[str]]]:
    """A service that gives these answers, then closes. Yields its URL and the targets of its requests."""
    rest, heard = list(answers), list[str]()

    class Service(Requests):
        def take(self) -> None:
            heard.append(self.headers["x-amz-target"])
            self.body()
            if rest:
                self.reply(*rest.pop(0))
            else:
                self.close_connection = True

    with serving(Service) as url:
        yield url, heard


BUSY = (400, b'{"__type":"com.amazonaws.dynamodb.v20120810#ThrottlingException","message":"slow down"}')
FINE = (200, b'{"Item":{"a":{"B":"AAE="},"b":{"S":"B"},"c":{"M":{"B":{"S":"x"}}}}}')


def test_throttled_aws_request_is_retried_and_binary_values_are_decoded() -> None:
    with answering((500, b""), BUSY, FINE) as (url, heard):
        found = LightDynamo(wire("dynamodb", url)).get_item(TableName="t")
    assert found["Item"] == {"a": {"B": b"\x00\x01"}, "b": {"S": "B"}, "c": {"M": {"B": {"S": "x"}}}}
    assert heard == ["DynamoDB_20120810.GetItem"] * 3


def test_aws_request_fails_after_three_throttled_attempts_or_one_validation_error() -> None:
    wrong = (400, b'{"__type":"x#ValidationException"}')
    with answering(BUSY, BUSY, BUSY) as (url, heard), pytest.raises(ClientError, match="ThrottlingException"):
        LightDynamo(wire("dynamodb", url)).get_item(TableName="t")
    assert len(heard) == 3
    with answering(wrong) as (url, heard), pytest.raises(ClientError, match="ValidationException"):
        LightDynamo(wire("dynamodb", url)).get_item(TableName="t")
    assert len(heard) == 1


def test_aws_connection_closed_by_the_service_is_opened_again() -> None:
    with answering(FINE) as (url, heard):
        client = LightDynamo(wire("dynamodb", url))
        client.get_item(TableName="t")
        with pytest.raises(EndpointConnectionError):
            client.get_item(TableName="t")
    assert len(heard) == 4


def test_unreachable_aws_service_is_a_temporary_error() -> None:
    table = DynamoTable(Aws(1), LightDynamo(Wire(NOWHERE, "dynamodb", SystemClock())), "t", "k")
    with pytest.raises(TemporaryError, match="AWS did not answer get_item"):
        asyncio.run(DynamoStore(table).head("run1"))
    with pytest.raises(TemporaryError, match="The parameters cannot be read now"):
        LightParameters(Wire(NOWHERE, "ssm", SetClock())).read(["/a"])


@pytest.mark.parametrize(
    ("region", "service", "bucket", "origin"),
    [
        ("eu-central-1", "dynamodb", "", "https://dynamodb.eu-central-1.amazonaws.com"),
        ("eu-central-1", "s3", "gofer", "https://gofer.s3.eu-central-1.amazonaws.com"),
        ("cn-north-1", "sqs", "", "https://sqs.cn-north-1.amazonaws.com.cn"),
    ],
)
def test_aws_endpoint_follows_region_service_and_bucket(region: str, service: str, bucket: str, origin: str) -> None:
    account = read_account({"AWS_REGION": region, "AWS_ACCESS_KEY_ID": "a", "AWS_SECRET_ACCESS_KEY": "b"})
    assert account.origin(service, bucket) == origin
    assert "key=***" in repr(account)


@contextmanager
def sleepy(at_once: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Serve answers once `at_once` requests have arrived; yield the URL and a function to close all connections."""
    held, barriers = list[socket.socket](), [threading.Barrier(at_once)]

    class Service(Requests):
        def take(self) -> None:
            self.body()
            held.append(self.connection)
            for barrier in barriers:
                barrier.wait(10)
            self.reply(200, b"{}")

    def close() -> None:
        barriers.clear()
        for one in held:
            one.shutdown(socket.SHUT_RDWR)

    with serving(Service) as url:
        yield url, close


def test_aws_connections_closed_while_lambda_was_frozen_cause_no_error() -> None:
    kept = ATTEMPTS + 1
    with sleepy(kept) as (url, close), ThreadPoolExecutor(kept) as pool:
        client = LightDynamo(wire("dynamodb", url))
        list(pool.map(lambda _: client.get_item(TableName="t"), range(kept)))
        close()
        assert client.get_item(TableName="t") == {}
        WIRES.pop().close()


def test_hanging_parameter_store_fails_before_the_timeout_of_a_receiver() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        account = replace(NOWHERE, endpoint=f"http://127.0.0.1:{silent.getsockname()[1]}")
        hung = Wire(account, "ssm", SystemClock(), timeout=0.1)
        with pytest.raises(TemporaryError, match="The parameters cannot be read now"):
            LightParameters(hung).read(["/a"])
    receivers = written()["Globals"]["Function"]["Timeout"]
    slack_waits = 3
    assert SOON <= TIMEOUT < WITHIN < slack_waits < receivers - RESERVE


def test_aws_request_makes_no_further_attempt_after_its_time() -> None:
    clock = SetClock()
    asked: list[str] = []

    class Busy(Requests):
        def take(self) -> None:
            self.body()
            asked.append(self.path)
            clock.advance(1.5)
            self.reply(500, b"{}")

    with serving(Busy) as url:
        slow = Wire(replace(NOWHERE, endpoint=url), "dynamodb", clock)
        assert slow.send("POST", "/", {}, b"{}")[0] == 500
        slow.close()
    assert len(asked) == 2 < ATTEMPTS


def test_ssm_pages_are_read_at_the_same_time() -> None:
    together = threading.Barrier(3)

    class Client:
        def get_parameters(self, **asked: Any) -> Mapping[str, Any]:
            together.wait(30)
            return {"Parameters": [{"Name": name, "Value": "v"} for name in asked["Names"]]}

    names = [f"/gofer/prod/P{number}" for number in range(27)]
    assert SsmParameters(Client()).read(names) == dict.fromkeys(names, "v")
