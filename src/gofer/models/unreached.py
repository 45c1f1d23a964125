"""Why a server could not be reached: its host and port, and the cause, in words for operators."""

import socket
import ssl
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit


def cause_of(error: BaseException, base_url: str) -> str:
    """Return the cause behind an error of an HTTP client, as a sentence without its end."""
    url = urlsplit(base_url)
    host = url.hostname or ""
    place = f"{host} at port {url.port or (443 if url.scheme == 'https' else 80)}"
    for found in _behind(error):
        match found:
            case socket.gaierror():
                return f"the name {host} has no address"
            case ConnectionRefusedError():
                return f"{place} refuses connections"
            case ssl.SSLCertVerificationError():
                return f"the certificate of {place} is not accepted ({found.verify_message})"
            case ssl.SSLError():
                return f"{place} does not speak TLS, which https:// asks for"
            case _:
                continue
    if url.scheme == "http":
        return f"{place} gives no whole answer in HTTP; it may ask for https://"
    return f"{place} gives no whole answer"


def _behind(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that it follows from."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            # A host with several addresses fails at each.
            yield from cast("BaseExceptionGroup[BaseException]", error).exceptions
        error = error.__cause__ or error.__context__
