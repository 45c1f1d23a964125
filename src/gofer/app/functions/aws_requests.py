"""The few requests that a receiver makes to AWS, without boto3, which takes half a second to load.

The operations have the form of a boto3 client's: keyword arguments, a JSON object as result, and botocore's errors. So
the stores work with both clients, and are tested with both.
"""

import base64
import io
import json
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast
from urllib.parse import quote

from botocore.exceptions import BotoCoreError, ClientError  # pyright: ignore[reportMissingTypeStubs]
from typing_extensions import override

from gofer.app.functions.aws_http import Answer, Wire
from gofer.app.functions.parameters import NAMES_AT_ONCE, ParameterStore
from gofer.values.errors import TemporaryError

_S3_CODE = re.compile(rb"<Code>(\w+)</Code>")


def code_of(answer: Answer) -> str:
    """Return the error code of an answer, or an empty text for a success."""
    status, headers, body = answer
    if status < 300:
        return ""
    # Some services, such as SQS, send the older code of an error in this header.
    older = headers.get("x-amzn-query-error", "").partition(";")[0]
    kind = str(_object(body).get("__type", "")).rpartition("#")[2]
    return older or kind or str(status)


def operation(wire: Wire, target: str, name: str, version: str = "1.0") -> Callable[..., Any]:
    """Return an operation of a JSON service in the form of a boto3 method, such as `put_item` for `PutItem`."""
    words = "".join(word.capitalize() for word in name.split("_"))
    headers = {"content-type": f"application/x-amz-json-{version}", "x-amz-target": f"{target}.{words}"}

    def ask(**arguments: object) -> Mapping[str, Any]:
        body = json.dumps(arguments, default=_base64).encode()
        answer = wire.send("POST", "/", headers, body)
        content = _object(answer[2])
        if code := code_of(answer):
            raise ClientError({**content, "Error": {"Code": code, "Message": ""}}, words)
        return content

    ask.__name__ = name
    return ask


def _base64(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(type(value).__name__)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body, object_hook=_with_bytes)
    except (ValueError, RecursionError):
        return {}
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    return {}


def _with_bytes(value: dict[str, Any]) -> dict[str, Any]:
    """Return an attribute value of DynamoDB, with binary data as bytes. Its only key is its type."""
    match value:
        case {"B": str(text)} if len(value) == 1:
            return {"B": base64.b64decode(text)}
        case _:
            return value


class LightDynamo:
    """The operations of DynamoDB that the stores use."""

    def __init__(self, wire: Wire) -> None:
        def ask(name: str) -> Callable[..., Any]:
            return operation(wire, "DynamoDB_20120810", name)

        self.get_item = ask("get_item")
        self.batch_get_item = ask("batch_get_item")
        self.query = ask("query")
        self.scan = ask("scan")
        self.put_item = ask("put_item")
        self.update_item = ask("update_item")
        self.delete_item = ask("delete_item")
        self.transact_write_items = ask("transact_write_items")
        self.batch_write_item = ask("batch_write_item")


class LightSqs:
    """The operations of SQS that the queue uses."""

    def __init__(self, wire: Wire) -> None:
        def ask(name: str) -> Callable[..., Any]:
            return operation(wire, "AmazonSQS", name)

        self.send_message = ask("send_message")
        self.receive_message = ask("receive_message")
        self.change_message_visibility = ask("change_message_visibility")
        self.delete_message = ask("delete_message")


class LightS3:
    """The operations of S3 that a receiver uses: read published workflows, and add bodies."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def get_object(self, *, Bucket: str, Key: str) -> Mapping[str, Any]:  # noqa: N803 - as boto3 has it
        """Return an object as a readable `Body` and an `ETag`. Raises ClientError."""
        status, headers, body = self._wire.send("GET", self._path(Bucket, Key), {}, b"")
        if status != 200:
            # Receivers may also list the bucket, so S3 answers 404 and not 403 for a missing object.
            raise ClientError({"Error": {"Code": _code(status, body)}}, "GetObject")
        return {"Body": io.BytesIO(body), "ETag": headers.get("etag", "")}

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, IfNoneMatch: str) -> Mapping[str, Any]:  # noqa: N803
        """Add an object. Raises ClientError, with `PreconditionFailed` for an existing object."""
        status, headers, body = self._wire.send("PUT", self._path(Bucket, Key), {"if-none-match": IfNoneMatch}, Body)
        if status != 200:
            raise ClientError({"Error": {"Code": _code(status, body)}}, "PutObject")
        return {"ETag": headers.get("etag", "")}

    def _path(self, bucket: str, key: str) -> str:
        # With an own endpoint the bucket is a part of the path, not of the host name.
        if self._wire.account.endpoint:
            return f"/{bucket}/{quote(key)}"
        return f"/{quote(key)}"


def _code(status: int, body: bytes) -> str:
    found = _S3_CODE.search(body)
    if found:
        return found[1].decode()
    return str(status)


class LightParameters(ParameterStore):
    """Parameter Store, with decrypted SecureStrings."""

    def __init__(self, wire: Wire) -> None:
        self._get = operation(wire, "AmazonSSM", "get_parameters", "1.1")
        self._put = operation(wire, "AmazonSSM", "put_parameter", "1.1")

    @override
    def read(self, names: Sequence[str]) -> Mapping[str, str]:
        found: dict[str, str] = {}
        for first in range(0, len(names), NAMES_AT_ONCE):
            try:
                page = self._get(Names=list(names[first : first + NAMES_AT_ONCE]), WithDecryption=True)
            except (ClientError, BotoCoreError) as error:
                raise TemporaryError(f"The parameters cannot be read now ({type(error).__name__}).") from error
            found |= {item["Name"]: item["Value"] for item in page["Parameters"]}
        return found

    def write(self, name: str, value: str) -> None:
        """Replace a SecureString. Raises TemporaryError."""
        try:
            self._put(Name=name, Value=value, Type="SecureString", Overwrite=True)
        except (ClientError, BotoCoreError) as error:
            raise TemporaryError(f"The parameter cannot be written now ({type(error).__name__}).") from error
