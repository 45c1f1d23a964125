"""The first hour of a new user, played with the wheel: what the person does and reads, and how long it took.

Gofer is installed in an environment of its own and runs in processes of its own. Slack is simulated, and a local server
plays the model, so nothing leaves this machine. A step that does not go as it should raises `WrongStep`. Only order and
words decide that; the times are for readers.
"""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2
import yaml

from gofer.app.embedded.server import serve
from gofer.values.canonical_json import as_object, as_text
from gofer.values.outside import SystemClock
from gofer_simulators.demo import demo_world
from gofer_simulators.slack.delivery import Pace
from gofer_simulators.slack.simulator import SlackSimulator
from gofer_simulators.slack.workspace import Message
from support.app.installed import environment, wheel
from support.app.serve_process import SECRET, free_port
from support.http import loopback
from support.models.deciding_provider import Sent, deciding
from support.sources.webhook_calls import WHSEC, as_json, signed

WEBHOOKS = 1_500
"""The calls of a program right before a colleague asks."""
TOGETHER = 20
"""Calls that the program makes at the same time."""
THINKS = 0.1
"""Seconds that the model needs for an answer."""
PATIENCE = 600.0
"""The most seconds that a step waits for an event."""
PROMPT, WORKFLOW = "agents/answer-here.md", "agents/answer-here.yaml"
OWN_RULE = "End with the channel of the team that owns the system."
CHANNEL = "#checkout-team"
SIGN_UP = """\
description: The sign-up form calls the webhook sign-up; the run says whether the new customer needs a call.
owner: "#dev-experience"
when:
  - webhook: {name: sign-up, key: /id}
reply: none
limits: {tool_calls: 2, llm_calls: 3, usd: 0.05}
"""
SIGN_UP_PROMPT = (
    "The sign-up form called with a JSON body. Answer in one sentence whether this customer needs a call.\n"
)


class WrongStep(AssertionError):
    """A step of the hour did not go as it should. The message says which one, and what the person read."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the hour."""

    name: str
    """What the person does."""
    words: str
    """What the person reads."""
    line: str
    """The line of it that tells how the step went; empty for a wrong step."""
    seconds: float


class Serving:
    """`gofer serve` in a process of its own, with the lines that it has printed."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[str] = []
        self._read = 0
        # A process whose output is not read stops once the pipe is full.
        self._reading = asyncio.create_task(self._keep())

    async def _keep(self) -> None:
        assert self.process.stderr is not None
        while raw := await self.process.stderr.readline():
            self.lines.append(_words(raw.decode().rstrip()))

    async def says(self, words: str) -> str:
        """Return the next line that contains the words. Raises WrongStep when the process ends first."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for line in self.lines[self._read :]:
                    self._read += 1
                    if words in line:
                        return line
                if self._reading.done():
                    last = "\n".join(self.lines[-20:])
                    raise WrongStep(f"`gofer serve` ended before it said {words!r}:\n{last}")
                await asyncio.sleep(0.02)

    async def stop(self) -> str:
        """Stop the process as an operator does; return what it says from then on, equal lines once."""
        said = len(self.lines)
        self.process.terminate()
        await self.process.wait()
        await self._reading
        return "\n".join(dict.fromkeys(self.lines[said:]))


@dataclass
class FirstHour:
    """The hour in one folder. `tell` gets each step once it is over."""

    folder: Path
    tell: Callable[[Step], None]
    webhooks: int = WEBHOOKS
    answered: list[str] = field(default_factory=list)
    """What each answer of the model was for, in order: `mention`, `webhook` or `other`."""
    _began: float = 0.0

    @property
    def company(self) -> Path:
        """The repository of the company."""
        return self.folder / "acme-gofer"

    async def play(self) -> None:
        """Play the hour. Raises WrongStep."""
        await self._install()
        await self._eval(await self._own_prompt())
        async with self._world() as (slack, http, port):
            serving = await self._serve(slack, port)
            try:
                await self._edits(serving)
                await self._first_mention(slack)
                await self._mention_behind_webhooks(slack, http, port)
                self._begin()
                self._over("stop `gofer serve`", await serving.stop(), "Stopping")
            finally:
                if serving.process.returncode is None:
                    serving.process.kill()
                    await serving.process.wait()

    async def _install(self) -> None:
        self._begin()
        built = await asyncio.to_thread(wheel, self.folder / "dist")
        await asyncio.to_thread(environment, self.folder / "venv", built)
        self._over("build the wheel and install it", await self._type("--version", where=self.folder), "gofer")
        words = ["init", "acme-gofer", "--repository", "https://github.com/acme/gofer"]
        self._over("gofer init acme-gofer", await self._type(*words, where=self.folder), "Next: cd acme-gofer")
        self._over("gofer check", await self._type("check"), "No mistakes.")

    async def _own_prompt(self) -> str:
        """Write an own rule into the prompt and run it; return the id of the run."""
        self._edit(PROMPT, f"{self._read(PROMPT)}\n{OWN_RULE}\n")
        (self.company / "agents" / "greet-signup.yaml").write_text(SIGN_UP)
        (self.company / "agents" / "greet-signup.md").write_text(SIGN_UP_PROMPT)
        self._over(
            "write an own prompt and a workflow for a webhook; gofer check", await self._type("check"), "No mistakes."
        )
        payload = "evals/payloads/answer-here-linked-decision.json"
        said = await self._type("run", "answer-here", "--event", payload)
        self._over("gofer run answer-here", said, ": done")
        found = re.search(r"^run ([0-9a-f]{24}): done$", said, re.MULTILINE)
        if found is None:
            raise WrongStep(f"`gofer run` named no run:\n{said}")
        return found[1]

    async def _serve(self, slack: SlackSimulator, port: int) -> Serving:
        manifest = await self._type("manifest", "--url", "https://gofer.example.com")
        slack.install(yaml.safe_load(manifest))
        slack.subscribe(f"http://127.0.0.1:{port}/slack/events")
        program = str(self.folder / "venv" / "bin" / "gofer")
        words = ["serve", "--port", str(port)]
        self._begin()
        process = await asyncio.create_subprocess_exec(
            program, *words, cwd=self.company, env=self._environment(), stderr=asyncio.subprocess.PIPE
        )
        serving = Serving(process)
        await serving.says("/runs")
        self._over("gofer serve, with a local model", "\n".join(serving.lines), "Gofer serves the Slack workspace Acme")
        return serving

    async def _edits(self, serving: Serving) -> None:
        good = self._read(WORKFLOW)
        self._edit(WORKFLOW, good.replace("when:", "wen:"))
        self._over("save a workflow with a mistake", await serving.says("wen"), f"{WORKFLOW}:")
        self._over("gofer check", await self._type("check", code=1), "when")
        self._edit(WORKFLOW, good)
        self._over("mend the mistake", await serving.says("the workflow files"), "the workflow files")

    async def _eval(self, run: str) -> None:
        await self._type("golden", run, "--name", "first-answer")
        self._over("gofer golden, then gofer eval", await self._type("eval", "goldens/first-answer"), "passed")

    async def _first_mention(self, slack: SlackSimulator) -> None:
        self._begin()
        asked = await self._ask(slack)
        self._over("mention Gofer in Slack: the first sign", (await self._sign(slack, asked)).text, "On it")
        self._over("the answer", (await self._answer(slack, asked)).text, CHANNEL)

    async def _mention_behind_webhooks(self, slack: SlackSimulator, http: httpx2.AsyncClient, port: int) -> None:
        self._begin()
        await self._call_webhooks(http, port)
        self._over(
            f"a program calls a webhook {self.webhooks:,} times", f"Accepted. ({self.webhooks:,} times)", "Accepted."
        )
        before = self.answered.count("webhook")
        asked = await self._ask(slack)
        self._over("mention Gofer behind them: the first sign", (await self._sign(slack, asked)).text, "On it")
        self._over("the answer", (await self._answer(slack, asked)).text, CHANNEL)
        meanwhile = self.answered.count("webhook")
        if meanwhile >= self.webhooks:
            raise WrongStep(
                f"The colleague waited behind the program: all {meanwhile:,} webhooks were answered before."
            )
        async with asyncio.timeout(PATIENCE):
            while self.answered.count("webhook") <= meanwhile:
                await asyncio.sleep(0.05)
        ready = (await http.get(f"http://127.0.0.1:{port}/readyz")).text
        backlog = f"{meanwhile - before:,} webhooks were worked meanwhile, and {self.webhooks - meanwhile:,} waited."
        self._over("look at /readyz", f"{ready}\n{backlog}", "waited")

    async def _call_webhooks(self, http: httpx2.AsyncClient, port: int) -> None:
        numbers = iter(range(self.webhooks))

        async def call() -> None:
            for number in numbers:
                body = as_json(id=f"C-{number}", name="Ada Lovelace", plan="team")
                headers = signed(body, f"msg_{number}", time.time())
                reply = await http.post(f"http://127.0.0.1:{port}/hooks/sign-up", content=body, headers=dict(headers))
                if reply.text.strip() != "Accepted.":
                    raise WrongStep(f"Webhook {number} was answered with {reply.status_code}: {reply.text}")

        await asyncio.gather(*(call() for _ in range(TOGETHER)))

    async def _ask(self, slack: SlackSimulator) -> Message:
        return await slack.say("U0CAPTN0", "C0GENERA0", slack.typed("@Gofer may the search filters go out?"))

    async def _sign(self, slack: SlackSimulator, asked: Message) -> Message:
        """Return the first message of Gofer in the thread of a question."""
        async with asyncio.timeout(PATIENCE):
            while not (found := _own(slack, asked)):
                await asyncio.sleep(0.02)
        return found[0]

    async def _answer(self, slack: SlackSimulator, asked: Message) -> Message:
        """Return the answer, once it has replaced the first sign."""
        async with asyncio.timeout(PATIENCE):
            while (answer := _own(slack, asked)[0]).edited_ts is None:
                await asyncio.sleep(0.02)
        return answer

    @asynccontextmanager
    async def _world(self) -> AsyncIterator[tuple[SlackSimulator, httpx2.AsyncClient, int]]:
        """Yield a simulated Slack, a client and a port for Gofer, and write `.env` for them and a local model."""

        async def think(_: Sent) -> None:
            await asyncio.sleep(THINKS)

        async with loopback.client() as http, deciding(self._decide, think) as (_, model):
            slack = SlackSimulator(demo_world(), clock=SystemClock().now, http=http, pace=Pace(gap_factor=0.01))
            async with serve(slack.app) as url:
                given = {
                    "SLACK_API_URL": f"{url}/api",
                    "SLACK_BOT_TOKEN": "xoxb-simulated",
                    "SLACK_SIGNING_SECRET": SECRET,
                    "OPENAI_BASE_URL": model,
                    "WEBHOOK_SECRET": WHSEC,
                }
                text = "".join(f"{name}={value}\n" for name, value in given.items())
                (self.company / ".env").write_text(text)
                yield slack, http, free_port()
            await slack.close()

    def _decide(self, sent: Sent) -> str:
        if "sign-up" in sent.first:
            self.answered.append("webhook")
            return "No call is needed."
        self.answered.append("mention")
        told = ""
        if OWN_RULE in json.dumps(sent.messages[0]):
            told = f" {CHANNEL}"
        return f"Yes, the search filters may go out today.{told}"

    async def _type(self, *words: str, where: Path | None = None, code: int = 0) -> str:
        """Type a command of Gofer; return what it prints. Raises WrongStep if it ends with another code."""
        self._begin()
        process = await asyncio.create_subprocess_exec(
            str(self.folder / "venv" / "bin" / "gofer"),
            *words,
            cwd=where or self.company,
            env=self._environment(),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        out, _ = await process.communicate()
        if process.returncode != code:
            raise WrongStep(f"`gofer {' '.join(words)}` ended with {process.returncode}:\n{out.decode()}")
        return out.decode().strip()

    def _environment(self) -> dict[str, str]:
        """Return the variables of a new user, without those of this machine."""
        return {"PATH": f"{self.folder / 'venv' / 'bin'}:/usr/bin:/bin", "HOME": str(self.folder)}

    def _read(self, file: str) -> str:
        return (self.company / file).read_text()

    def _edit(self, file: str, text: str) -> None:
        self._begin()
        (self.company / file).write_text(text)

    def _begin(self) -> None:
        self._began = time.monotonic()

    def _over(self, name: str, words: str, expected: str) -> None:
        """Tell a step and begin the next one. Raises WrongStep if the person does not read the expected words."""
        now = time.monotonic()
        line = next((line for line in words.splitlines() if expected in line), "")
        self.tell(Step(name, words, line, now - self._began))
        self._began = now
        if not line:
            raise WrongStep(f"{name}: {expected!r} is not in what the person reads:\n{words}")


def _own(slack: SlackSimulator, asked: Message) -> list[Message]:
    """Return the messages of Gofer in the thread of a message."""
    return [one for one in slack.workspace.replies(asked) if one.user == slack.workspace.bot.user]


def _words(line: str) -> str:
    """Return a line as a person reads it: of a structured line of the log its message."""
    if not line.startswith("{"):
        return line
    return as_text(as_object(json.loads(line)).get("message")) or line
