"""A worker for tests: a store and a queue in memory, and a Slack that is a function."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from gofer.engine.effects import Patience
from gofer.engine.services import Links, Services
from gofer.journal.blob_store import BUNDLES, blob_key
from gofer.journal.coordination import Head
from gofer.journal.entries import RunStarted
from gofer.models.language_model import Answer
from gofer.runtime.worker import Worker
from gofer.sources.slack.api import SlackApi, SlackRefusal
from gofer.sources.slack.directory import GetUser
from gofer.sources.slack.places import FindPlace, place_result
from gofer.sources.slack.private_message import PostEphemeral
from gofer.sources.slack.read_thread import ReadThread
from gofer.sources.slack.tools import TOOLS as SLACK_TOOLS
from gofer.sources.slack.write import DeleteMessage, PostMessage, UpdateMessage
from gofer.sources.workflow_files import DestinationsForm
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.stores.memory.blobs import MemoryBlobs
from gofer.stores.memory.journal import MemoryStore
from gofer.stores.memory.queue import MemoryQueue
from gofer.stores.one_place import Stores
from gofer.stores.queue import QueueMessage
from gofer.tools.declare import bind_all
from gofer.tools.definition import Call, InDoubt, Target, Tool, ToolResult
from gofer.values.secret import Secret
from gofer.workflows.bundle import Bundle, encode_bundle
from gofer.workflows.grants import Grant
from gofer.workflows.load import Catalog, Loaded
from gofer.workflows.schema import Defaults, Limits
from support.engine.memory_run import PRICES, ListModel
from support.models.served import served
from support.runtime.worker_parts import FixedCatalog, catalog_of
from support.stand_ins import KEY, TOKENS, SetClock, claimed, make_outside, mention

WORKFLOW = Workflow(
    description="d", owner="#o", when=("slack.mention",), writes=DestinationsForm(slack=("#deploys", "C0DEPLOY0"))
)
_REAL = {tool.name: tool for tool in bind_all(SLACK_TOOLS, SlackApi("", Secret("")))}
CATALOG = Catalog(
    {"answer-here": Loaded("answer-here", WORKFLOW, "Be brief.", "agents/answer-here.md", served("m"))}, Defaults()
)

CONVERSATION = TOKENS.conversation(mention().conversation)
"""The conversation of its runs, as rows name it."""


class CountingQueue(MemoryQueue):
    """A queue that counts extended and received queue messages."""

    extended = 0

    def clear(self) -> None:
        """Remove every queue message."""
        self._queued.clear()

    received = 0

    async def receive(
        self, limit: int, visibility: float, wait: float, *, machines: int | None = None
    ) -> Sequence[QueueMessage]:
        queue_messages = await super().receive(limit, visibility, wait, machines=machines)
        self.received += len(queue_messages)
        return queue_messages

    async def extend(self, queue_message: QueueMessage, visibility: float) -> None:
        self.extended += 1
        await super().extend(queue_message, visibility)


class Crashed(BaseException):
    """The process was killed, which no code catches."""


@dataclass
class MemoryWorker:
    """A worker, its stores in memory and its Slack."""

    model: ListModel
    clock: SetClock = field(default_factory=SetClock)
    store: MemoryStore = field(default_factory=MemoryStore)
    blobs: MemoryBlobs = field(default_factory=MemoryBlobs)
    posted: list[str] = field(default_factory=list)
    threads: list[str] = field(default_factory=list)
    crash_in: set[str] = field(default_factory=set)
    """Tools in whose calls the worker crashes."""
    deleted: set[str] = field(default_factory=set)
    """The `ts` of messages that a person deleted."""
    edits: list[str] = field(default_factory=list)
    """The new texts of edited messages, in order."""
    kind: str = "member"
    """The kind of person who starts its runs."""
    unknown: str = ""
    """The error code with which Slack refuses to look up that person."""
    member: bool = True
    """Whether that person is a member of every channel. All channels are public."""
    ephemeral: list[str] = field(default_factory=list)
    """The messages shown only to that person."""
    catalog: Catalog = CATALOG

    def __post_init__(self) -> None:
        self.queue = CountingQueue(self.clock)

        async def read(call: Call, arguments: ReadThread) -> ToolResult:
            return ToolResult("Thread in #deploys", "read", {"private": False})

        async def post(call: Call, arguments: PostMessage) -> ToolResult:
            self.posted.append(arguments.text)
            self.threads.append(arguments.thread_ts)
            return ToolResult("Posted", "posted", {"channel": "C1", "ts": f"{len(self.posted)}.0"})

        async def update(call: Call, arguments: UpdateMessage) -> ToolResult:
            if "slack_update_message" in self.crash_in:
                raise Crashed
            if arguments.ts in self.deleted:
                raise SlackRefusal("chat.update", "message_not_found")
            self.edits.append(arguments.text)
            self.posted[int(float(arguments.ts)) - 1] = arguments.text
            return ToolResult("Changed", "changed", {"channel": "C1", "ts": arguments.ts})

        async def person(call: Call, arguments: GetUser) -> ToolResult:
            if self.unknown:
                raise SlackRefusal("users.info", self.unknown)
            known = {"found": 1, "kind": self.kind, "handle": "ada", "name": "Ada", "team": call.place["team"]}
            return ToolResult("@Ada", "looked up", known)

        async def ephemeral(call: Call, arguments: PostEphemeral) -> ToolResult:
            self.ephemeral.append(arguments.text)
            return ToolResult("Shown", "shown")

        async def delete(call: Call, arguments: DeleteMessage) -> ToolResult:
            self.posted[int(float(arguments.ts)) - 1] = ""
            return ToolResult("Deleted", "deleted")

        async def place(call: Call, arguments: FindPlace) -> ToolResult:
            asked = arguments.channel
            listed = {asked, f"#{asked}"} & {*arguments.listed}
            channel = "".join(["C0", asked.upper()])
            return place_result(channel, asked, public=True, member=self.member, own=False, listed=bool(listed))

        gone, writes = _REAL["slack_update_message"].in_doubt.gone, _REAL["slack_post_message"].target.writes
        where = _REAL["slack_update_message"].target.where
        tools = {
            "slack_get_user": Tool("slack_get_user", "", "read", GetUser, person),
            "slack_post_ephemeral": Tool("slack_post_ephemeral", "", "blind", PostEphemeral, ephemeral),
            "slack_delete_message": Tool(
                "slack_delete_message", "", "keyed", DeleteMessage, delete, target=Target(where=where)
            ),
            "slack_read_thread": Tool("slack_read_thread", "", "read", ReadThread, read),
            "slack_post_message": Tool(
                "slack_post_message",
                "",
                "blind",
                PostMessage,
                post,
                target=Target(writes=writes, where=_REAL["slack_post_message"].target.where),
            ),
            "slack_find_place": Tool("slack_find_place", "", "read", FindPlace, place, internal=True),
            "slack_update_message": Tool(
                "slack_update_message",
                "",
                "keyed",
                UpdateMessage,
                update,
                in_doubt=InDoubt(gone=gone),
                target=Target(where=where),
            ),
        }
        services = Services(
            Stores(self.store, self.blobs, self.queue),
            self.model,
            MappingProxyType(tools),
            PRICES,
            Links("http://localhost"),
            make_outside(self.clock),
            Patience(backoff=0.001),
            installation_key=KEY,
        )
        self.worker = Worker(services, FixedCatalog(self.catalog))

    async def accept(
        self, run: str, accepted_at: int = 1, *, private: bool = True, text: str = "<@U0GOFER0> hello"
    ) -> None:
        await claimed(self.store, run, event=mention(text))
        await self.store.create_head(Head(run, "answer-here", CONVERSATION, accepted_at, private=private))
        await self.queue.enqueue(run)

    async def work_once(self) -> int:
        """Process every due queue message, and return their number."""
        queue_messages = await self.queue.receive(100, 120, 0)
        await asyncio.gather(*(self.worker.answer(queue_message) for queue_message in queue_messages))
        return len(queue_messages)

    async def started(self) -> RunStarted:
        """Store the bundle of the workflow, and return the entry that starts a run with it."""
        raw = encode_bundle(Bundle(catalog_of(self.worker).workflows["answer-here"], []))
        key = blob_key(BUNDLES, raw)
        await self.blobs.put(key, raw)
        return RunStarted(key.rpartition("/")[2], private=False)

    async def work_once_or_crash(self) -> Sequence[object]:
        """Process every due queue message with workers that may crash, and return the result of each."""
        queue_messages = await self.queue.receive(100, 120, 0)
        return await asyncio.gather(
            *(self.worker.answer(queue_message) for queue_message in queue_messages), return_exceptions=True
        )

    def grant(self, *tools: str, limits: Limits | None = None) -> None:
        """Grant tools to the workflow, and set its limits."""
        loaded = catalog_of(self.worker).workflows["answer-here"]
        changes: dict[str, object] = {"tools": tuple(Grant(name=name) for name in tools)}
        if limits is not None:
            changes["limits"] = limits
        workflow = loaded.workflow.model_copy(update=changes)
        granted = Catalog({"answer-here": replace(loaded, workflow=workflow)}, Defaults())
        self.worker = replace(self.worker, workflows=FixedCatalog(granted))

    async def status(self, run: str) -> str:
        head = await self.store.head(run)
        assert head is not None
        return head.status


def memory_worker(*answers: Answer | Exception) -> MemoryWorker:
    return MemoryWorker(ListModel(list(answers)))
