import socket
from urllib import request
import httpx2

import urllib.parse
from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    return None
