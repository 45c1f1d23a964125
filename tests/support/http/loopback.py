"""The HTTP clients of tests, which share the trusted certificates, read once."""

import httpx2

from gofer.app.http import trusted


def client() -> httpx2.AsyncClient:
    """Return a client for servers of this machine; the caller closes it."""
    return httpx2.AsyncClient(verify=trusted(), trust_env=False)
