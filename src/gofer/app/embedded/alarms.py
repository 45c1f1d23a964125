"""The alarms of `gofer serve`: where the operator hears them, and which disk they watch."""

import shutil
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path

from gofer.app.settings import Settings
from gofer.journal.store import Store
from gofer.runtime.alarms import Alarms, Send
from gofer.runtime.worker import Worker
from gofer.sources.apps import APPS
from gofer.values.canonical_json import encode
from gofer.values.errors import TemporaryError, Unsent
from gofer.values.outside import Http, HttpRequest, Outside
from gofer.values.secret import Secret

LEAST_FREE = 1 << 30
"""The free bytes below which the disk counts as full."""
SECONDS = 10.0
"""The longest wait for an answer to an alarm."""


def free_bytes(folder: Path) -> int:
    """Return the free bytes of the disk of a folder. Raises OSError."""
    return shutil.disk_usage(folder).free


def build_alarms(settings: Settings, store: Store, outside: Outside) -> Alarms | None:
    """Return the alarms of a process that serves the real systems; None if GOFER_ALARMS is not set."""
    if settings.simulated or not settings.alarms:
        return None
    name = "Gofer"
    if settings.public_url:
        name = f"Gofer at {settings.public_url}"
    send = _named(name, _sender(settings, outside.http))
    return Alarms(store, outside.clock, send, lambda: _has_room(settings.data))


def _has_room(folder: Path) -> bool:
    try:
        return free_bytes(folder) >= LEAST_FREE
    except OSError:
        return False


def observed(worker: Worker, alarms: Alarms) -> Worker:
    """Return a worker whose calls tell the alarms which systems answer."""
    services = replace(
        worker.services, note_away=alarms.note_away, note_answer=alarms.note_answer, tell_operator=alarms.tell
    )
    return replace(worker, services=services)


def _sender(settings: Settings, http: Http) -> Send:
    channel = settings.alarm_channel
    if not channel:
        return _webhook(settings.alarms, http)
    (app,) = APPS

    async def post(text: str) -> None:
        await app.notify(settings.sources, http, channel, text)

    return post


def _webhook(url: Secret, http: Http) -> Send:
    async def post(text: str) -> None:
        content = encode({"text": text})
        request = HttpRequest("POST", url.reveal(), {"Content-Type": "application/json"}, content, timeout=SECONDS)
        response = await http.send(request)
        if response.status >= 500:
            raise TemporaryError(f"the webhook answered with HTTP {response.status}")
        if response.status >= 300:
            raise Unsent(f"the webhook answered with HTTP {response.status}; correct GOFER_ALARMS")

    return post


def _named(name: str, send: Send) -> Callable[[str], Awaitable[None]]:
    """Return a sender that begins each text with the name of this Gofer."""

    async def post(text: str) -> None:
        await send(f"{name}: {text}")

    return post
