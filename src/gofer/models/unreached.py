"""Why a model could not be reached: the host, the cause, and what a person does about it."""

import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

from gofer.models.language_model import Access


def cause_of(error: BaseException, base_url: str, at: Access) -> str:
    """Return the cause behind an error of an HTTP client, as a sentence without its end."""
    url = urlsplit(base_url)
    host = url.hostname or ""
    port = url.port or (443 if url.scheme == "https" else 80)
    for found in _chain(error):
        match found:
            case socket.gaierror():
                return f"no address is known for the name {host}; correct {at.url_setting}"
            case ConnectionRefusedError():
                return f"{host} refuses connections at port {port}; start the server, or correct {at.url_setting}"
            case ssl.SSLCertVerificationError(verify_message=why):
                return f"the certificate of {host} is not accepted ({why})"
            case ssl.SSLError():
                return f"{host} does not speak TLS at port {port}; write http:// in {at.url_setting}, or another port"
            case _:
                continue
    return f"{host} does not answer at port {port}"


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that it follows from."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
