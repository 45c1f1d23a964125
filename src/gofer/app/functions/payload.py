"""The HTTP request that comes to a function, and the answer that leaves it: API Gateway's payload format 2.0.

Function URLs have the same shape. Nothing a caller sends can make this raise: what is no request is none.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence

from gofer.sources.receiver import RawRequest, Reply
from gofer.values.canonical_json import as_list, as_object, as_text

_STAGELESS = ("", "$default")

Response = dict[str, object]
"""What API Gateway makes an HTTP response of."""


def read_request(event: object) -> RawRequest | None:
    """Return the request in an event; None when the event is no HTTP request, or its body is not what it says it is.

    The gateway has joined repeated headers with commas and written their names in lower case; cookies stand apart.
    """
    fields = as_object(event)
    context = as_object(fields.get("requestContext"))
    method = as_text(as_object(context.get("http")).get("method"))
    path = as_text(fields.get("rawPath"))
    body = _body(fields)
    if not method or not path.startswith("/") or body is None:
        return None
    headers = [(name.lower(), as_text(value)) for name, value in as_object(fields.get("headers")).items()]
    if cookies := [as_text(cookie) for cookie in as_list(fields.get("cookies"))]:
        headers.append(("cookie", "; ".join(cookies)))
    return RawRequest(method.upper(), _below_stage(path, as_text(context.get("stage"))), headers, body)


def query(event: object) -> str:
    """Return the query of a request as it was written, without its question mark."""
    return as_text(as_object(event).get("rawQueryString"))


def response(reply: Reply) -> Response:
    """Return the answer of a receiver as API Gateway takes it."""
    return respond(reply.status, [("content-type", reply.media_type)], reply.body)


def respond(status: int, headers: Sequence[tuple[str, str]], body: bytes) -> Response:
    """Return any answer; `set-cookie` may stand there more than once, of other headers the last one counts."""
    single: Mapping[str, str] = {name.lower(): value for name, value in headers if name.lower() != "set-cookie"}
    cookies = [value for name, value in headers if name.lower() == "set-cookie"]
    answer: Response = {"statusCode": status, "headers": dict(single), **_text_or_base64(body)}
    if cookies:
        answer["cookies"] = cookies
    return answer


def _body(fields: Mapping[str, object]) -> bytes | None:
    body = fields.get("body")
    if body is None:
        return b""
    if not isinstance(body, str):
        return None
    if fields.get("isBase64Encoded") is not True:
        # What no UTF-8 can say was never sent: a signature over it fails.
        return body.encode(errors="replace")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None


def _below_stage(path: str, stage: str) -> str:
    """Return the path as it is everywhere: a stage with a name stands before it."""
    if stage in _STAGELESS or not f"{path}/".startswith(f"/{stage}/"):
        return path
    return path.removeprefix(f"/{stage}") or "/"


def _text_or_base64(body: bytes) -> Response:
    try:
        return {"body": body.decode(), "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
