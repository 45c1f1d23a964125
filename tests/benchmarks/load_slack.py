"""A simulated Slack in a separate process for the load test, with every mention already written.

It prints its address. `GET /answered` returns the unix time of the final answer to each mention by its `ts`, how many
mentions have several answers, and the calls by method. With `channel_seconds`, a channel takes one message in that
time, and refuses more with 429, as Slack does.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from typing import ClassVar

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from typing_extensions import override

from gofer.app.embedded.server import serve
from gofer.values.outside import SystemClock
from gofer_simulators.slack.simulator import SlackSimulator
from support.http import loopback

BOT, USERS, CHANNELS = "U0GOFER0", 100, 20
TEXT = f"<@{BOT}> please"


def user_of(number: int) -> str:
    return f"U{number % USERS:08}"


def channel_of(number: int, channels: int) -> str:
    return f"C{number % channels:08}"


def ts_of(first: int, number: int) -> str:
    return f"{first + number // 1_000}.{number % 1_000:03}100"


def world(first: int, count: int, channels: int) -> dict[str, object]:
    """Return a workspace in which `count` mentions were written, in turn in each channel."""
    people = [{"id": user_of(n), "name": f"user{n}"} for n in range(USERS)]
    members = [BOT, *(user_of(n) for n in range(USERS))]
    return {
        "slack": {
            "team": {"id": "T0ACME00", "domain": "acme", "name": "Acme"},
            "app": {"id": "A0GOFER0"},
            "bot": {"user": BOT, "bot_id": "B0GOFER0", "name": "gofer"},
            "users": people,
            "channels": [
                {"id": channel_of(n, channels), "name": f"channel{n}", "members": members} for n in range(channels)
            ],
            "messages": [
                {
                    "channel": f"channel{n % channels}",
                    "user": user_of(n),
                    "text": TEXT,
                    "ts": ts_of(first, n),
                }
                for n in range(count)
            ],
        }
    }


class Counted(BaseHTTPMiddleware):
    """Counts the calls by method, and keeps the rate of messages in a channel."""

    methods: ClassVar[Counter[str]] = Counter()
    channel_seconds = 0.0
    next_at: ClassVar[dict[str, float]] = {}

    @override
    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        method = request.url.path.rpartition("/")[2]
        if method == "chat.postMessage" and self.channel_seconds:
            channel = str(json.loads(await request.body())["channel"])
            wait = self.next_at.get(channel, 0.0) - time.monotonic()
            if wait > 0:
                self.methods[f"{method} refused with 429"] += 1
                return JSONResponse({"ok": False, "error": "ratelimited"}, 429, {"Retry-After": str(int(wait) + 1)})
            self.next_at[channel] = time.monotonic() + self.channel_seconds
        self.methods[method] += 1
        return await call_next(request)


def answered(slack: SlackSimulator) -> JSONResponse:
    """Return the final answers so far: a mention is answered once its status message was edited into the answer."""
    threads: dict[str, list[tuple[str, str | None]]] = {}
    for message in slack.workspace.all_messages():
        if message.user == BOT and message.thread_ts:
            threads.setdefault(message.thread_ts, []).append((message.ts, message.edited_ts))
    times = {ts: float(said[-1][1] or said[-1][0]) for ts, said in threads.items() if said[-1][1]}
    several = sum(len(said) > 1 for said in threads.values())
    return JSONResponse({"answered": times, "several": several, "methods": dict(Counted.methods)})


async def main(first: int, count: int, channels: int, channel_seconds: float) -> None:
    Counted.channel_seconds = channel_seconds
    async with loopback.client() as http:
        slack = SlackSimulator(world(first, count, channels), clock=SystemClock().now, http=http)

        async def look(request: Request) -> Response:
            return answered(slack)

        slack_app = Starlette(
            routes=[Route("/answered", look), Mount("/", slack.app)], middleware=[Middleware(Counted)]
        )
        async with serve(slack_app) as url:
            print(url, flush=True)
            await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
