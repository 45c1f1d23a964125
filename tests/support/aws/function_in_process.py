"""One function in this process, on moto: its parameters, and how it is invoked."""

from dataclasses import dataclass
from typing import Any

from gofer.app.functions.invocation import Handler
from support.aws import moto_server
from support.aws.lambda_stage import as_event

KEY = "ab" * 32


@dataclass
class Context:
    """The context object of an invocation."""

    function_name: str = "gofer-test"
    memory_limit_in_mb: str = "1024"
    invoked_function_arn: str = "arn:aws:lambda:eu-central-1:123456789012:function:gofer-test"
    aws_request_id: str = "request-1"

    def get_remaining_time_in_millis(self) -> int:
        return 900_000


def put(path: str, **parameters: str) -> None:
    for name, value in parameters.items():
        moto_server.client("ssm").put_parameter(Name=path + name, Value=value, Type="SecureString", Overwrite=True)


def invoke(function: Handler, event: object) -> Any:
    return function(event, Context())


def get(path: str) -> dict[str, object]:
    return as_event("GET", path, {}, b"")
