"""A cold process on its way to its first 2xx: the lightest front over an embedded state, and one mention.

The mention comes as JSON on its input, signed elsewhere, so that signing is not measured.
"""

import asyncio
import json
import random
import sys
from pathlib import Path

from gofer.app.embedded.state import open_state
from gofer.app.ingress import build_ingress
from gofer.app.settings import read_settings
from gofer.sources.receiver import RawRequest
from gofer.values.installation_key import InstallationKey
from gofer.values.outside import Http, HttpRequest, HttpResponse, Outside, SystemClock, random_id, random_key
from gofer.values.secret import Secret


class NoNetwork(Http):
    """HTTP without a network, which ingress does not need."""

    async def send(self, request: HttpRequest) -> HttpResponse:
        raise AssertionError("a front sends nothing")


def main(folder: Path) -> None:
    given = json.load(sys.stdin)
    headers = [(name, value) for name, value in given["headers"]]
    request = RawRequest("POST", "/slack/events", headers, given["body"].encode())
    settings = read_settings({"SLACK_SIGNING_SECRET": given["secret"]})
    clock = SystemClock()
    outside = Outside(NoNetwork(), clock, random_id, random.SystemRandom(), random_key)
    with open_state(folder, clock) as state:
        routes = {"slack.mention": [("answer-here", {})]}
        front = build_ingress(settings, routes, state.stores, InstallationKey(Secret("k" * 64)), outside)
        reply = asyncio.run(front.receive(request))
    print(reply.status, reply.body.decode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
