"""The HTTP clients of tests: whom they would trust is read once for all of them."""

import httpx2

from gofer.app.http import trusted


def client() -> httpx2.AsyncClient:
    """A client for servers of this machine; whoever makes it closes it."""
    return httpx2.AsyncClient(verify=trusted(), trust_env=False)
