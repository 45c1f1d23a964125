"""One machine under load: `gofer serve` over HTTP, with signed mentions at growing rates from another process.

Slack, the model and the sender are processes of their own. The model answers at once, so the figures are what Gofer
itself can do. The processes share the processors, so the figures are lower bounds of what a machine can do.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest
from load_slack import BOT, CHANNELS, TEXT, channel_of, ts_of, user_of
from test_harness import model_server
from traffic import percentile

from gofer.sources.slack.receiver import sign
from gofer.values.secret import Secret
from support.app.serve_process import free_port

pytestmark = pytest.mark.anyio
HERE = Path(__file__).parent
SECRET = "a signing secret"
RATES = ((5, 5.0), (10, 5.0), (20, 5.0), (40, 5.0), (3_000, 0.3))
"""Mentions a second, and for how many seconds."""
REPEATS, REPEAT_SECONDS = 3, 2.0
"""How often a refused delivery is sent again, and after which time. Slack waits longer."""
PATIENCE, STILL = 240.0, 30.0
"""The most seconds to wait for all answers, and for one more of them."""
WORKFLOW = """description: Answers.
owner: "#it"
when: [slack.mention]
tools: []
model: any
review: off
"""


@dataclass
class Sent:
    """What happened to the mentions of one rate."""

    rate: float
    numbers: list[int] = field(default_factory=list[int])
    accepted: dict[int, float] = field(default_factory=dict[int, float])
    """The unix time at which each mention was sent."""
    seconds: list[float] = field(default_factory=list[float])
    """Seconds until the 2xx."""
    refused: Counter[str] = field(default_factory=Counter[str])
    memory: float = 0.0
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class Served:
    """A running `gofer serve` with its Slack."""

    process: subprocess.Popen[bytes]
    url: str
    slack: str
    first: int
    channels: int
    log: Path

    def status(self, name: str) -> float:
        """Return a figure of the process in MB: VmRSS or VmHWM."""
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.findall(rf"{name}:\s+(\d+) kB", text)[0]) * 1024 / 1e6

    def cpu(self) -> float:
        """Return the CPU seconds of the process so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def started(*command: object, cwd: Path | None = None, **environment: str) -> Generator[subprocess.Popen[bytes]]:
    """Start a program, and end it with the block."""
    kept = {name: text for name, text in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        [*map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=cwd,
        env={**kept, "PYTHONPATH": f"{HERE}:{HERE.parent}", **environment},
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate()


@asynccontextmanager
async def served(folder: Path, count: int, channels: int, channel_seconds: float = 0.0) -> AsyncGenerator[Served]:
    """Yield `gofer serve` in a folder, with a simulated Slack that holds `count` mentions."""
    (folder / "agents").mkdir(parents=True)
    (folder / "agents" / "answer.yaml").write_text(WORKFLOW)
    (folder / "agents" / "answer.md").write_text("You answer.\n")
    first, port, log = int(time.time()) - 60, free_port(), folder / "log"
    async with model_server(0) as model:
        with ExitStack() as stack:
            script = HERE / "load_slack.py"
            slack = stack.enter_context(started(sys.executable, script, first, count, channels, channel_seconds))
            assert slack.stdout is not None
            address = slack.stdout.readline().decode().strip()
            environment = {
                "SLACK_API_URL": f"{address}/api",
                "SLACK_BOT_TOKEN": "xoxb-simulated",
                "SLACK_SIGNING_SECRET": SECRET,
                "OPENAI_BASE_URL": model,
            }
            gofer = Path(sys.executable).with_name("gofer")
            words = ("sh", "-c", f'exec "{gofer}" serve --port {port} 2>"{log}"')
            process = stack.enter_context(started(*words, cwd=folder, **environment))
            url = f"http://127.0.0.1:{port}"
            await until_ready(url, process, log)
            yield Served(process, url, address, first, channels, log)


async def until_ready(url: str, process: subprocess.Popen[bytes], log: Path) -> None:
    async with httpx2.AsyncClient() as http, asyncio.timeout(PATIENCE):
        while True:
            assert process.poll() is None, log.read_text()
            try:
                if (await http.get(f"{url}/readyz")).status_code == 200:
                    return
            except httpx2.TransportError:
                await asyncio.sleep(0.1)


def delivery(made: Served, number: int) -> bytes:
    """Return the whole request of Slack for one mention, signed now."""
    ts, channel = ts_of(made.first, number), channel_of(number, made.channels)
    event = {"type": "app_mention", "user": user_of(number), "ts": ts, "event_ts": ts, "channel": channel, "text": TEXT}
    envelope = {
        "type": "event_callback",
        "team_id": "T0ACME00",
        "api_app_id": "A0GOFER0",
        "event_id": f"Ev{number:010}",
        "event_time": made.first,
        "event": event | {"channel_type": "channel"},
        "authorizations": [{"team_id": "T0ACME00", "user_id": BOT, "is_bot": True}],
    }
    body = json.dumps(envelope).encode()
    at = str(int(time.time()))
    head = (
        f"POST /slack/events HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"content-length: {len(body)}\r\nx-slack-request-timestamp: {at}\r\n"
        f"x-slack-signature: {sign(Secret(SECRET), at, body)}\r\n\r\n"
    )
    return head.encode() + body


async def send(made: Served, sent: Sent, first: int, seconds: float) -> None:
    """Send the mentions of one rate at their times, and again if they were refused, as Slack does."""
    began = time.monotonic()

    async def one(place: int) -> None:
        await asyncio.sleep(max(0.0, began + place / sent.rate - time.monotonic()))
        number = first + place
        sent.numbers.append(number)
        for _ in range(1 + REPEATS):
            at, now = time.time(), time.monotonic()
            status = await ask(made.url, delivery(made, number))
            if status == "200":
                sent.accepted[number] = at
                sent.seconds.append(time.monotonic() - now)
                return
            sent.refused[status] += 1
            await asyncio.sleep(REPEAT_SECONDS)

    await asyncio.gather(*map(one, range(int(sent.rate * seconds))))


async def ask(url: str, request: bytes) -> str:
    """Return the status of the answer to a request on a connection of its own, or `connection closed`."""
    address = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        writer.close()
    except (OSError, asyncio.IncompleteReadError):
        return "connection closed"
    return head.split()[1].decode()


async def outcome(made: Served) -> Mapping[str, dict[str, float]]:
    async with httpx2.AsyncClient(timeout=60.0) as http:
        return (await http.get(f"{made.slack}/answered")).json()


async def all_answered(made: Served, expected: int) -> Mapping[str, dict[str, float]]:
    """Return the outcome once all mentions are answered, or no further one for a while."""
    began = changed = time.monotonic()
    seen = -1
    while True:
        found = await outcome(made)
        now = time.monotonic()
        if len(found["answered"]) != seen:
            seen, changed = len(found["answered"]), now
        if seen >= expected or now - began > PATIENCE or now - changed > STILL:
            return found
        await asyncio.sleep(1.0)


async def test_load_of_one_machine_at_growing_rates(tmp_path: Path) -> None:
    count = int(sum(rate * seconds for rate, seconds in RATES))
    steps: list[Sent] = []
    async with served(tmp_path / "served", count, CHANNELS) as made:
        idle, cpu, began = made.status("VmRSS"), made.cpu(), time.monotonic()
        number = 0
        for rate, seconds in RATES:
            sent = Sent(rate)
            await send(made, sent, number, seconds)
            number += len(sent.numbers)
            sent.memory = made.status("VmRSS")
            accepted = sum(len(step.accepted) for step in [*steps, sent])
            sent.waiting = accepted - len((await outcome(made))["answered"])
            steps.append(sent)
        accepted = sum(len(step.accepted) for step in steps)
        found = await all_answered(made, accepted)
        took, used = time.monotonic() - began, made.cpu() - cpu
        peak = made.status("VmHWM")
        log = made.log.read_text()
    print_steps(made, steps, found)
    answered = len(found["answered"])
    print(f"  {answered} of {accepted} accepted mentions answered in {took:.0f} s: {answered / took:.1f} a second")
    print(f"  {used * 1_000 / max(1, answered):.1f} ms CPU a mention, so {answered / used:.0f} a second at most")
    print(f"  memory {idle:.0f} MB before, {peak:.0f} MB at the peak; {found['several']} mentions with several answers")
    print(f"  calls of Slack for a mention: {calls(found['methods'], answered)}")
    print(f"  warnings and errors in the log: {worries(log)}")
    assert answered == accepted == count
    assert not found["several"]


async def test_load_of_one_channel_that_takes_a_message_a_second(tmp_path: Path) -> None:
    sent = Sent(20.0)
    async with served(tmp_path / "served", 40, channels=1, channel_seconds=1.0) as made:
        await send(made, sent, 0, 2.0)
        sent.memory = made.status("VmRSS")
        found = await all_answered(made, len(sent.accepted))
        log = made.log.read_text()
    print_steps(made, [sent], found)
    print(f"  calls of Slack: {found['methods']}")
    print(f"  warnings and errors in the log: {worries(log)}")
    assert len(found["answered"]) == len(sent.accepted)
    assert not found["several"]


def print_steps(made: Served, steps: list[Sent], found: Mapping[str, dict[str, float]]) -> None:
    print(f"\n`gofer serve` over HTTP, a model without delay, {os.cpu_count()} processors for four processes")
    for step in steps:
        delays = [
            found["answered"][ts] - at
            for number, at in step.accepted.items()
            if (ts := ts_of(made.first, number)) in found["answered"]
        ]
        refused = ", ".join(f"{number} {status}" for status, number in step.refused.items()) or "none"
        print(
            f"  {step.rate:4.0f} a second: {len(step.accepted):4} accepted, refused before {refused};"
            f" 2xx {spread(step.seconds)}; answer {spread(delays)};"
            f" then {step.waiting:4} wait, {step.memory:.0f} MB"
        )


def spread(seconds: Sequence[float]) -> str:
    """Return the median and the 95th percentile of times."""
    if not seconds:
        return "none"
    return f"p50 {percentile(seconds, 50):6.2f} p95 {percentile(seconds, 95):6.2f} s"


def calls(methods: Mapping[str, float], mentions: int) -> str:
    shown = {name: number / mentions for name, number in methods.items() if number >= mentions / 10}
    return ", ".join(f"{name} {each:.1f}" for name, each in sorted(shown.items()))


def worries(log: str) -> str:
    """Return the kinds of warnings and errors in a log, with their number."""
    lines = (json.loads(line) for line in log.splitlines() if line.startswith("{"))
    found = Counter(
        re.sub(r"\b[0-9a-f]{8,}\b|\d+", "…", str(line.get("message", "")))
        for line in lines
        if line.get("level") in ("WARNING", "ERROR", "warning", "error")
    )
    return "; ".join(f"{number} x {message}" for message, number in found.most_common(5)) or "none"
