"""The HTTP clients of tests: what they would trust is read once for all of them, which takes 30 ms."""

import ssl
from functools import cache

import httpx2


@cache
def _trusted() -> ssl.SSLContext:
    return httpx2.create_ssl_context(trust_env=False)


def client() -> httpx2.AsyncClient:
    """A client for servers of this machine; whoever makes it closes it."""
    return httpx2.AsyncClient(verify=_trusted(), trust_env=False)
