import subprocess
from threading import Thread
from os import environ

from gofer.coordinator import Run


async def coordinate(run: Run) -> str | None:
    return None
