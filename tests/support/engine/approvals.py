"""A worker for tests of approvals: it files tickets after an approval, and Slack is a few lists."""

from dataclasses import dataclass, field, replace
from types import MappingProxyType

from gofer.journal import entries as e
from gofer.journal.log import read_journal
from gofer.models.language_model import Answer
from gofer.runtime.receive import Ingress
from gofer.sources.receiver import Click
from gofer.sources.slack.approvals import CloseQuestion, FindGroups, MayDecide, TellOne
from gofer.sources.slack.question import Question
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.one_place import Stores
from gofer.tools.definition import Call, InDoubt, Tool, ToolResult
from gofer.values.errors import ToolError
from gofer.values.events import Actor
from gofer.values.installation_key import InstallationKey
from gofer.values.secret import Secret
from gofer.workflows.load import Catalog
from gofer.workflows.routes import Routes
from gofer.workflows.schema import Defaults
from support.engine.memory_run import Said, says
from support.runtime.memory_worker import CATALOG, Crashed, MemoryWorker, memory_worker
from support.runtime.worker_parts import FixedCatalog

KEY = InstallationKey(Secret("0" * 64))
LEADS = {"U0LEAD000"}
FILE = ("file_ticket", {"text": "Checkout fails"})


@dataclass
class ApprovalWorker:
    """A memory worker whose workflow files tickets after an approval, and a Slack that is a few lists."""

    memory_worker: MemoryWorker
    asked: list[Question] = field(default_factory=list)
    closed: list[str] = field(default_factory=list)
    private_messages: list[tuple[str, str]] = field(default_factory=list)
    filed: list[str] = field(default_factory=list)
    crash_after: str = ""
    """A tool after whose effect the worker crashes, once."""

    @property
    def ingress(self) -> Ingress:
        made = self.memory_worker
        services = made.worker.services
        return Ingress({}, Routes(), Stores(made.store, services.blobs, made.queue), KEY, services.outside)

    async def work(self, rounds: int = 8) -> None:
        """Process queue messages for a while. Another worker takes over from a crashed one."""
        for _ in range(rounds):
            await self.memory_worker.work_once_or_crash()
            self.memory_worker.clock.advance(130)

    async def press(self, decision: str, actor: str = "U0LEAD000", *, nth: int = -1) -> str:
        question = self.asked[nth]
        token = question.approve if decision == "approved" else question.deny
        at = int(self.memory_worker.clock.now() * 1000)
        ignored = await self.ingress.press(Click(token, Actor(actor), at))
        return ignored.reason if ignored else ""

    async def entries(self, run: str = "run1") -> list[e.Entry]:
        return [item.entry for item in await read_journal(run, self.memory_worker.store, self.memory_worker.blobs)]

    async def first_result(self, run: str = "run1") -> str:
        """Return the result of the model's first call."""
        (result,) = [
            one
            for one in await self.entries(run)
            if isinstance(one, e.ToolResult | e.ToolUnknown) and one.call == "1.0"
        ]
        return result.text


def approval_worker(*answers: Answer | Exception, **keys: object) -> ApprovalWorker:
    made = ApprovalWorker(memory_worker(*answers))

    def lost(name: str) -> None:
        if made.crash_after == name:
            made.crash_after = ""
            raise Crashed

    async def file(call: Call, said: Said) -> ToolResult:
        if call.key not in made.filed:
            made.filed.append(call.key)
        lost("file_ticket")
        return ToolResult(f"Filed as OPS-{len(made.filed)}", "filed", {"key": f"OPS-{len(made.filed)}"})

    async def ask(call: Call, asked: Question) -> ToolResult:
        made.asked.append(asked)
        lost("slack_ask_approval")
        return ToolResult("Asked.", "asked", {"channel": "C1", "ts": f"{len(made.asked)}.5"})

    async def find(call: Call, asked: Question) -> ToolResult | None:
        return ToolResult("Asked.", "asked", {"channel": "C1", "ts": "1.5"}) if asked in made.asked else None

    async def close(call: Call, arguments: CloseQuestion) -> ToolResult:
        if arguments.asked and not arguments.ending:
            made.asked.append(arguments.asked)
        else:
            made.closed.append(arguments.ending)
        lost("slack_close_question")
        return ToolResult("Closed.", "closed")

    async def whisper(call: Call, arguments: TellOne) -> ToolResult:
        made.private_messages.append((arguments.user, arguments.text))
        lost("slack_tell_one")
        return ToolResult("Shown.", "told")

    async def may(call: Call, arguments: MayDecide) -> ToolResult:
        lost("slack_may_decide")
        allowed = arguments.user in LEADS if "@leads" in arguments.by else arguments.user == arguments.requester
        return ToolResult("", "looked", {"allowed": allowed, "name": f"name of {arguments.user}"})

    async def groups(call: Call, arguments: FindGroups) -> ToolResult:
        if "@nobody" in arguments.names:
            raise ToolError("there is no user group @nobody in Slack")
        return ToolResult("", "looked", {"ids": dict.fromkeys(arguments.names, "S0LEADS00")})

    more: list[Tool] = [
        Tool("file_ticket", "files", "keyed", Said, file),
        Tool("slack_ask_approval", "", "lookup", Question, ask, internal=True, in_doubt=InDoubt(look=find)),
        Tool("slack_ask_requester", "", "blind", Question, ask, internal=True),
        Tool("slack_close_question", "", "keyed", CloseQuestion, close, internal=True),
        Tool("slack_tell_one", "", "blind", TellOne, whisper, internal=True),
        Tool("slack_may_decide", "", "read", MayDecide, may, internal=True),
        Tool("slack_find_groups", "", "read", FindGroups, groups, internal=True),
    ]
    worker = made.memory_worker.worker
    tools = {**worker.services.tools, **{tool.name: tool for tool in more}}
    given = {"tools": ["file_ticket"], "approve": {"tools": ["file_ticket"], "by": "@leads"}, **keys}
    workflow = Workflow.model_validate({"description": "d", "owner": "#o", "when": ["slack.mention"], **given})
    loaded = replace(CATALOG.workflows["answer-here"], workflow=workflow)
    services = replace(worker.services, tools=MappingProxyType(tools), installation_key=KEY)
    catalog = Catalog({"answer-here": loaded}, Defaults())
    made.memory_worker.worker = replace(worker, services=services, workflows=FixedCatalog(catalog), alone=True)
    return made


async def status(made: ApprovalWorker, run: str = "run1") -> str:
    return await made.memory_worker.status(run)


async def waiting_for_approval(*answers: Answer, **keys: object) -> ApprovalWorker:
    """Return a worker whose run waits for the approval of its ticket."""
    made = approval_worker(says("", FILE), *(answers or (says("Filed."),)), **keys)
    await made.memory_worker.accept("run1", private=False)
    await made.work(2)
    return made


class FilesThenSaysSo:
    """A model that files a ticket, and answers once it has the result."""

    async def ask(self, body: bytes, timeout: float) -> Answer:
        return says("Filed.") if b'"role":"tool"' in body else says("", FILE)
