"""The run's own step: only the calls that Gofer itself makes for a run, from admission to the summary."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import KW_ONLY, dataclass

from gofer.engine import model_order
from gofer.engine.model_order import TimedAnswer
from gofer.engine.owned_run import Deadline, OwnedRun
from gofer.engine.permitted_call import OUTAGE, Permitted, permit_all
from gofer.engine.results import DisplayLimits
from gofer.engine.services import Services
from gofer.engine.step import CallContext, attempt, make_calls
from gofer.journal import entries as e
from gofer.journal.frame_counts import has_begun
from gofer.journal.log import Journal, claim, open_journal, read_journal
from gofer.journal.workspace_entries import FileAdded
from gofer.models.served_model import ServedModel
from gofer.sources.part_values import Outcome, OwnCall
from gofer.tools.definition import Provenance, Repertoire
from gofer.values.canonical_json import as_object, as_text
from gofer.values.errors import Corrupt, Fenced, RunStopped, ToolError

_OWN_ID = re.compile(r"[a-z][a-z-]*/.+", re.DOTALL)
"""The form of `<purpose>/<n>`. The call ids of models and scripts begin with a digit."""


@dataclass(frozen=True, slots=True)
class PurposeCall:
    """A call of the run's own, with an id that names its purpose."""

    call: str
    """`<purpose>/<n>`."""
    request: OwnCall
    _: KW_ONLY
    recorded: bool = True
    """Whether the journal records the arguments; it need not if they follow from other entries."""
    longest_wait: float = OUTAGE
    """Total seconds that the call waits for a system that does not answer."""
    waits: bool = True
    """Whether the run waits until the call can be made; a call that does not wait is attempted once."""
    shown: DisplayLimits | None = None
    """Display limits of a text for a model, beyond which the text becomes a file; None cuts a long text."""

    def __post_init__(self) -> None:
        if not _OWN_ID.fullmatch(self.call):
            raise ValueError(f"The run makes calls `<purpose>/<n>` by itself, and {self.call!r} is none.")


class OwnStep(OwnedRun):
    """A run, with the calls that its owner makes for the run itself.

    `attempt`, `ask`, `clear`, `open_child` and `journal_of` reach beyond the journal of the run. Replay overrides them.
    """

    def __init__(
        self,
        journal: Journal,
        services: Services,
        entries: Sequence[e.Recorded],
        deadline: Deadline,
        above: OwnedRun | None = None,
    ) -> None:
        super().__init__(journal, services, entries, deadline, above)
        self.children: dict[str, OwnStep] = {}
        """The steps of the subagents that this owner has opened, by the ids of their runs."""

    async def call(self, purpose: PurposeCall, provenance: Provenance) -> Outcome:
        """Make a call of the run's own, or return its recorded outcome.

        Raises Cancelled or OutOfTime when nothing new may begin, Parked when the call has to wait, and ToolError for
        arguments that its tool does not take.
        """
        tool = self.services.tools[purpose.request.tool]
        item = Permitted(
            purpose.call,
            tool,
            tool.parse(purpose.request.arguments),
            purpose.request.arguments if purpose.recorded else None,
            longest_wait=purpose.longest_wait,
            waits=purpose.waits,
        )
        context = CallContext(
            provenance=provenance,
            shown=purpose.shown or DisplayLimits(),
            repertoire=Repertoire(),
            long_as_file=purpose.shown is not None,
        )

        async def make(item: Permitted, doubt: str) -> Sequence[e.Entry]:
            return await self.attempt(item, doubt, context)

        (outcome,) = await make_calls(self, [item], permit_all, make)
        return outcome

    async def attempt(self, item: Permitted, doubt: str, context: CallContext) -> Sequence[e.Entry]:
        """Make one call after its intent; return the entries of its outcome. `doubt` says why it is in doubt."""
        return await attempt(self, item, doubt, context)

    async def ask(
        self, model: ServedModel, body: bytes, timeout: float, request: e.Recorded, added: model_order.Params
    ) -> TimedAnswer:
        """Send the bytes of a recorded request to a model; return its answer. Raises what `model_order.answer` does.

        `added` is as in `RemoteModel.adding`.
        """
        api = self.progress.apis.get(model.asked_at)
        return await model_order.answer(self.services, model, body, timeout, self.traceparent(request), api, added)

    def report_failure(self, error: Exception) -> None:
        """Tell the operator that a model gave no answer."""
        model_order.log_failure(self.run, error, private=self.is_private)

    async def clear(self, item: Permitted, check: Callable[[], Awaitable[Permitted | Outcome]]) -> Permitted | Outcome:
        """Return a call as it may be made, or its outcome instead, as `check` finds. Raises what `check` raises."""
        return await check()

    async def child_has_begun(self, run: str) -> bool:
        """Return whether a subagent run was claimed. Raises TemporaryError."""
        return await has_begun(run, self.services.store)

    async def open_child(self, started: e.SubagentStarted, *, fresh: bool) -> "OwnStep":
        """Return the run of a subagent, and claim it if it is new.

        `fresh` says that this owner has just journaled the start. If another owner claimed the run nevertheless, that
        owner has taken over the root. Raises Fenced, Corrupt, TemporaryError.
        """
        services = self.services
        run = started.run
        if child := self.children.get(run):
            # This object also has the entries that are not durable yet.
            return child
        if (fresh or not await self.child_has_begun(run)) and await claim(
            run, self.claim_of_child(), self.pen, services.store, services.blobs
        ) is not None:
            raise Fenced(f"Run {run} has another owner.")
        journal, entries = await open_journal(run, services.store, services.blobs, self.pen)
        child = OwnStep(journal, services, entries, self.deadline, self)
        if child.progress.parent != self.run:
            raise Corrupt(f"Run {run} is no subagent of run {self.run}; restore it from a backup.")
        self.children[run] = child
        return child

    def claim_of_child(self) -> e.RunAccepted:
        """Return the first entry of a subagent run of this run. Raises RunStopped."""
        event = self.progress.event
        if event is None:
            raise RunStopped(f"Run {self.run} has no event; its journal does not begin with a claim.")
        return e.RunAccepted(event, self.progress.workflow, parent=self.run, depth=self.progress.depth + 1)

    async def journal_of(self, run: str) -> Sequence[e.Recorded]:
        """Return all entries of an earlier run or of a subagent run. Raises Corrupt, Gone, TemporaryError."""
        return await read_journal(run, self.services.store, self.services.blobs)

    async def content(self, added: FileAdded, provenance: Provenance, purpose: str) -> bytes:
        """Return the content of a file; fetch it first if the run does not have it. `purpose` names that call.

        Raises ToolError when the file cannot be fetched, TemporaryError, Cancelled, OutOfTime.
        """
        if not added.body:
            source = added.source or {}
            fetch = OwnCall(as_text(source.get("tool")), as_object(source.get("arguments")))
            if fetch.tool not in self.services.tools:
                raise ToolError("No installed tool can fetch it.", code="gone")
            match await self.call(PurposeCall(f"{purpose}/{added.file}", fetch, longest_wait=0.0), provenance):
                case e.ToolResult(status="ok"):
                    added = self.workspace.files[added.file].added
                case outcome:
                    raise ToolError(outcome.text)
        return await self.files.content(added)
