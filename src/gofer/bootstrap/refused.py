"""What did AWS say when it refused something?"""

from botocore.exceptions import ClientError  # pyright: ignore[reportMissingTypeStubs]

from gofer.canonical import as_object, as_text


def code(error: ClientError) -> str:
    """The name of the refusal: `NoSuchKey`, `AccessDenied`."""
    return as_text(_said(error).get("Code"))


def message(error: ClientError) -> str:
    """Its sentence, cut at 300 characters."""
    return as_text(_said(error).get("Message"))[:300]


def _said(error: ClientError) -> dict[str, object]:
    response: object = error.response
    return dict(as_object(as_object(response).get("Error")))
