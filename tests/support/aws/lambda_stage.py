"""A stage of Gofer without AWS: moto's tables and queues, the real runtime client, a simulated Slack, a model.

HTTP requests arrive as from API Gateway, queue messages as from the event source mapping.
"""

import asyncio
import base64
import json
import shutil
import subprocess
import sys
import time
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx2

from gofer.app.catalog import price_list
from gofer.app.embedded.server import serve as serve_app
from gofer.journal.coordination import UNFINISHED, Head
from gofer.journal.entries import Entry
from gofer.journal.log import read_journal
from gofer.sources.receivers import PATHS
from gofer.sources.workflow_files import load_catalog
from gofer.stores.aws.dynamodb_client import DynamoTable
from gofer.values.outside import SystemClock
from gofer.workflows.model_roles import FILE as PRICE_LIST
from gofer.workflows.published import Compiled, encode_compiled
from gofer_simulators.demo import demo_scripts, demo_world
from gofer_simulators.offline_model import offline_model
from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Message
from support.app.company import ROOT
from support.aws import moto_server
from support.aws.function_packages import LIBRARIES, packages, runtime
from support.aws.lambda_host import Function, Host, Outcome, ThrottledError
from support.aws.permissions import refused
from support.aws.template import Json, permissions, transformed
from support.http import loopback
from support.http.threaded_server import Requests, serve

FOLDERS = ("agents", "subagents", "skills", "coordinators")
WORKERS = {
    "brief": "handler = worker_function(stand(), leave=-600)",
    "stuck": "handler = worker_function(stand(), Patience(inflight=120), lease=1.0)",
    "hasty": "handler = worker_function(stand(), Patience(permit=1, inflight=2, skew=0, backoff=0.01, pause=0.1))",
}
"""Handlers of workers by name.

A `brief` one is not cut off before its deadline, even on a slow machine. A `stuck` one waits two minutes for sent
calls, and its lease ends soon afterwards. A `hasty` one follows it and waits for no late call.
"""
_WORKER = """
from gofer.app.functions.foundation import stand
from gofer.app.functions.worker import worker_function
from gofer.engine.effects import Patience

"""
FUNCTIONS = (*PATHS, "webhook", "schedule", "worker", "dashboard")
_PATIENCE = 600.0
_TEXT = ("application/json", "text/")


@dataclass(frozen=True)
class Code:
    """The code of the functions."""

    packages: Mapping[str, Path]
    """The folder that is unpacked for each."""
    besides: Path
    """The folders behind it on the path."""


def packaged(folder: Path) -> Code:
    """Build each function's deployed package, with nothing beside it but the runtime client."""
    made, besides = packages(folder / "packages"), runtime(folder / "runtime")
    for name, handler in WORKERS.items():
        (besides / f"{name}.py").write_text(f"{_WORKER}{handler}\n")
    return Code({**made, **dict.fromkeys(WORKERS, made["worker"])}, besides)


def together(folder: Path) -> Code:
    """Put all functions in one folder, beside the libraries of this interpreter, so that bytecode exists."""
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "gofer", folder / "gofer", ignore=skipped)
    shutil.copytree(ROOT / "handlers", folder / "handlers", ignore=skipped)
    for room in ("cli",):
        shutil.rmtree(folder / "gofer" / room)
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    (folder / "agents" / PRICE_LIST).write_text(price_list(ROOT / "agents"))
    catalog = load_catalog(ROOT / "agents")
    compiled = Compiled("", catalog.routes(), catalog.hooks, catalog.schedules())
    (folder / "compiled.json").write_bytes(encode_compiled(compiled))
    told = [sys.executable, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(folder)]
    subprocess.run(told, check=True)
    return Code(dict.fromkeys(FUNCTIONS, folder), LIBRARIES)


def as_event(method: str, url: str, headers: Mapping[str, str], body: bytes) -> dict[str, object]:
    """Return a request as an HTTP API passes it to a function: payload format 2.0."""
    parts = urlsplit(url)
    names = {name.lower(): value for name, value in headers.items()}
    cookies = [one.strip() for one in names.pop("cookie", "").split(";") if one.strip()]
    textual = names.get("content-type", "").startswith(_TEXT)
    return {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": parts.path,
        "rawQueryString": parts.query,
        "headers": names,
        "requestContext": {
            "http": {"method": method, "path": parts.path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1"},
            "requestId": str(uuid.uuid4()),
            "stage": "$default",
            "timeEpoch": int(time.time() * 1000),
        },
        **({"cookies": cookies} if cookies else {}),
        **({"body": body.decode() if textual else base64.b64encode(body).decode()} if body else {}),
        "isBase64Encoded": bool(body) and not textual,
    }


def function_at(path: str) -> str:
    """Return the function that API Gateway routes a path to."""
    for name, where in PATHS.items():
        if path.startswith(where.rpartition("/")[0] + "/"):
            return name
    return "webhook" if path.startswith("/hooks/") else "dashboard"


def gateway(host: Host) -> type[Requests]:
    """Return a request handler that plays an HTTP API in front of the functions."""

    class Gateway(Requests):
        def take(self) -> None:
            event = as_event(self.command, self.path, dict(self.headers), self.body())
            try:
                outcome = host.invoke(function_at(urlsplit(self.path).path), event)
            except ThrottledError:
                self.reply(503, b'{"message":"Service Unavailable"}')
                return
            if outcome.error:
                self.reply(500, b'{"message":"Internal Server Error"}')
                return
            told = outcome.payload
            body = base64.b64decode(told["body"]) if told["isBase64Encoded"] else told["body"].encode()
            self.send_response(told["statusCode"])
            for cookie in told.get("cookies", []):
                self.send_header("Set-Cookie", cookie)
            for name, value in {**told["headers"], "content-length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

    return Gateway


@cache
def _cloud() -> Json:
    return transformed()


@dataclass
class Stage:
    """A deployed Gofer with its simulated systems."""

    host: Host
    url: str
    cloud: moto_server.MotoCloud
    path: str
    slack: SlackSimulator
    slack_url: str
    http: httpx2.AsyncClient
    code: Code
    batches: list[tuple[int, Outcome | None]] = field(default_factory=list)
    """The number of queue messages of each batch, and its outcome; None when it was throttled."""
    earlier: list[DynamoTable] = field(default_factory=list)
    """The tables that the stack had before."""

    def set(self, **parameters: str) -> None:
        """Write parameters of the stage."""
        for name, value in parameters.items():
            place = {"Name": f"{self.path}{name}", "Value": value, "Type": "SecureString", "Overwrite": True}
            moto_server.client("ssm").put_parameter(**place)

    def setting(self, name: str) -> str:
        """Return a parameter of the stage."""
        return moto_server.client("ssm").get_parameter(Name=f"{self.path}{name}", WithDecryption=True)["Parameter"][
            "Value"
        ]

    def deploy(self, name: str, **changes: Any) -> None:
        """Add or change a function."""
        handler = f"{name}.handler" if name in WORKERS else f"handlers/{name}.handler"
        folder = self.code.packages[name]
        environment = self.environment() | {"AWS_ACCESS_KEY_ID": self.key(name)}
        if name == "worker" or name in WORKERS:
            environment["GOFER_OFFERS_URL"] = self.cloud.offers
        self.host.add(Function(name, handler, folder, self.code.besides, environment, **changes))
        self.host.retire(name)

    def key(self, name: str) -> str:
        """Return the access key of a function's role."""
        return f"{name}-{self.path.strip('/').replace('/', '-')}"

    def refused(self, name: str) -> Sequence[str]:
        """Return the requests of a function to AWS that template.yaml does not allow."""
        allowed = permissions(_cloud(), f"{'Worker' if name in WORKERS else name.capitalize()}Role")
        names = {
            f"dynamodb:{self.cloud.table._name}": "Table.Arn",
            f"dynamodb:{self.cloud.table._keys}": "KeysTable.Arn",
            f"s3:{self.cloud.bucket}": "Bucket.Arn",
            f"sqs:{self.cloud.url}": "Queue.Arn",
            f"sqs:{self.cloud.dead}": "DeadLetters.Arn",
            f"sqs:{self.cloud.offers}": "Offers.Arn",
            f"ssm:{self.path}": "ssm:parameter/gofer/Stage/",
        }
        for table in self.earlier:
            names |= {f"dynamodb:{table._name}": "Table.Arn", f"dynamodb:{table._keys}": "KeysTable.Arn"}
        asked = [one for one in moto_server.ASKED if one.key == self.key(name)]
        return [f"{one.action} {one.resource}" for one in asked if refused(one, allowed, names)]

    def environment(self) -> dict[str, str]:
        """Return the environment that template.yaml gives every function."""
        return {
            "GOFER_STAGE": "test",
            "GOFER_TABLE": self.cloud.table._name,
            "GOFER_KEYS_TABLE": self.cloud.table._keys,
            "GOFER_BUCKET": self.cloud.bucket,
            "GOFER_QUEUE_URL": self.cloud.url,
            "GOFER_DEAD_LETTER_URL": self.cloud.dead,
            "GOFER_PARAMETERS": self.path,
            "AWS_ENDPOINT_URL": moto_server.server(),
        }

    async def ask(self, text: str, channel: str = "C0GENERA0", thread: str | None = None) -> Message:
        """Write to a channel as a colleague; Slack delivers it until it is accepted."""
        asked = await self.slack.say("U0CAPTN0", channel, self.slack.typed(text), thread_ts=thread)
        await self.slack.settled()
        return asked

    def answers(self, asked: Message) -> Sequence[Message]:
        bot = self.slack.workspace.bot.user
        parent = self.slack.workspace.parent(asked)
        return [m for m in self.slack.workspace.replies(parent) if m.user == bot and m.ts > asked.ts]

    async def poll(self, worker: str = "worker", most: int = 10) -> int:
        """Invoke the worker with one batch of the queue; return the number of its messages."""
        return await asyncio.to_thread(self._poll, worker, most)

    def _poll(self, worker: str, most: int) -> int:
        sqs, url = moto_server.client("sqs"), self.cloud.url
        # Six times the worker's timeout, as the queue has it; the worker shortens it.
        asked = {"VisibilityTimeout": 5_400, "MessageSystemAttributeNames": ["All"], "MaxNumberOfMessages": most}
        messages = sqs.receive_message(QueueUrl=url, **asked).get("Messages", [])
        if not messages:
            return 0
        try:
            outcome = self.host.invoke(worker, {"Records": [_record(message) for message in messages]})
        except ThrottledError:
            # The event source mapping makes them visible again.
            for message in messages:
                place = {"QueueUrl": url, "ReceiptHandle": message["ReceiptHandle"]}
                sqs.change_message_visibility(**place, VisibilityTimeout=0)
            self.batches.append((len(messages), None))
            return len(messages)
        failed = {one["itemIdentifier"] for one in (outcome.payload or {}).get("batchItemFailures", [])}
        for message in messages:
            if not outcome.error and message["MessageId"] not in failed:
                sqs.delete_message(QueueUrl=url, ReceiptHandle=message["ReceiptHandle"])
        self.batches.append((len(messages), outcome))
        return len(messages)

    async def work(self, runs: int = 1, worker: str = "worker") -> Sequence[Head]:
        """Process batches until that many runs ended; return all heads, oldest first."""
        async with asyncio.timeout(_PATIENCE):
            while True:
                await self.poll(worker)
                heads = await self.cloud.store.heads(1000, private=True)
                if len([head for head in heads if head.status not in UNFINISHED]) >= runs:
                    return sorted(heads, key=lambda head: head.accepted_at)
                await asyncio.sleep(0.05)

    async def entries(self, run: str) -> Sequence[Entry]:
        journal = await read_journal(run, self.cloud.store, self.cloud.blobs)
        return [recorded.entry for recorded in journal]

    async def later(self, seconds: float) -> None:
        """Move the clock of the queues forward."""
        self.cloud.clock.advance(seconds)

    def metrics(self, name: str) -> Mapping[str, list[object]]:
        """Return the values of embedded metrics that a function wrote, by name."""
        found: dict[str, list[object]] = {}
        for line in self.host.log(name).splitlines():
            written = json.loads(line) if line.startswith('{"') else {}
            rules = written.get("_aws", {}).get("CloudWatchMetrics", [])
            for metric in (metric for rule in rules for metric in rule["Metrics"]):
                found.setdefault(metric["Name"], []).extend(written[metric["Name"]])
        return found


def _record(message: Mapping[str, Any]) -> dict[str, object]:
    return {
        "messageId": message["MessageId"],
        "receiptHandle": message["ReceiptHandle"],
        "body": message["Body"],
        "attributes": message["Attributes"],
        "messageAttributes": {},
        "md5OfBody": message["MD5OfBody"],
        "eventSource": "aws:sqs",
        "eventSourceARN": f"arn:aws:sqs:{moto_server.REGION}:123456789012:gofer",
        "awsRegion": moto_server.REGION,
    }


@asynccontextmanager
async def stage(code: Code, model: Any = None, **parameters: str) -> AsyncIterator[Stage]:
    """Yield a stage of Gofer; `model` is an ASGI application, by default the demo's scripted model."""
    async with undeployed(code, uuid.uuid4().hex[:8], model) as made:
        made.set(
            INSTALLATION_KEY="ab" * 32,
            GOFER_URL=made.url,
            SLACK_SIGNING_SECRET="simulated-signing-secret",
            SLACK_TEAM_ID=made.slack.workspace.team.id,
            SLACK_BOT_TOKEN="xoxb-simulated",
            SLACK_CLIENT_ID=made.slack.openid.client_id,
            SLACK_CLIENT_SECRET=made.slack.openid.client_secret,
            WEBHOOK_SECRET="whsec_" + base64.b64encode(b"w" * 32).decode(),
            **parameters,
        )
        for name in FUNCTIONS:
            made.deploy(name)
        made.deploy("worker", timeout=900.0)
        yield made


@asynccontextmanager
async def undeployed(code: Code, name: str, model: Any = None) -> AsyncIterator[Stage]:
    """Yield a stage without functions, whose only settings are the addresses of Slack and the model."""
    clock = moto_server.MotoClock(time.time())
    host = Host()
    front = serve(gateway(host))
    url = f"http://127.0.0.1:{front.server_port}"
    async with loopback.client() as http:
        slack = SlackSimulator(
            demo_world(), clock=SystemClock().now, http=http, pace=Pace(0.001, answer_within=_PATIENCE)
        )
        async with serve_app(slack.app) as slack_url, serve_app(model or offline_model(demo_scripts())) as model_url:
            made = Stage(host, url, moto_server.MotoCloud(clock), f"/gofer/{name}/", slack, slack_url, http, code)
            made.set(SLACK_API_URL=f"{slack_url}/api/", OPENAI_BASE_URL=f"{model_url}/v1")
            slack.subscribe(f"{url}/slack/events")
            try:
                yield made
                denied = {name: told for name in host.functions if (told := made.refused(name))}
                assert not denied, f"template.yaml does not let {denied}"
            finally:
                await slack.close()
                host.close()
                front.shutdown()
                front.server_close()
