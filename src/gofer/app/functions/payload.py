"""HTTP requests and answers in API Gateway's payload format 2.0, which function URLs also use.

No input of a caller can make these functions raise. A malformed event counts as no request.
"""

import base64
import binascii
from collections.abc import Mapping, Sequence

from gofer.sources.receiver import RawRequest, Reply
from gofer.values.canonical_json import as_list, as_object, as_text

_STAGELESS = ("", "$default")

Response = dict[str, object]
"""The answer of a function, from which API Gateway makes an HTTP response."""


def read_request(event: object) -> RawRequest | None:
    """Return the request in an event, or None if the event is not an HTTP request or its body is malformed.

    The gateway has joined repeated headers with commas and put their names into lower case. Cookies are separate.
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
    place = _below_stage(path, as_text(context.get("stage")))
    return RawRequest(method.upper(), place, headers, body, query(event))


def query(event: object) -> str:
    """Return the query string of a request unchanged, without its question mark."""
    return as_text(as_object(event).get("rawQueryString"))


def response(reply: Reply) -> Response:
    """Return the answer of a receiver in API Gateway's format."""
    return respond(reply.status, [("content-type", reply.media_type), *reply.headers], reply.body)


def respond(status: int, headers: Sequence[tuple[str, str]], body: bytes) -> Response:
    """Return an answer in API Gateway's format. Only `set-cookie` may repeat; of other headers the last one counts."""
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
        # Lone surrogates cannot have been sent over HTTP. Replaced, they fail the signature.
        return body.encode(errors="replace")
    try:
        return base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None


def _below_stage(path: str, stage: str) -> str:
    """Return the path without the name of the API stage, which the gateway puts before it."""
    if stage in _STAGELESS or not f"{path}/".startswith(f"/{stage}/"):
        return path
    return path.removeprefix(f"/{stage}") or "/"


def _text_or_base64(body: bytes) -> Response:
    try:
        return {"body": body.decode(), "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}
