"""A call that may be made, with what its tool declares of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gofer.journal.entries import ToolCall
from gofer.journal.purposes import is_own
from gofer.tools.definition import ANYWHERE, AnyTool, Arguments
from gofer.tools.places import Place
from gofer.values.errors import ToolError
from gofer.values.events import Event

OUTAGE = 1_800.0
"""Seconds that a run waits in all for a system that is away, for one call that it needs."""
DELIVERY = 86_400.0
"""The same for calls that deliver its answer."""

Gate = Callable[[], None]
"""Raises when something new may not begin; asked right before its intent is noted, so that nothing comes between."""


def unasked() -> None:
    """Let everything through: the caller asked before."""


@dataclass(frozen=True, slots=True)
class Permitted:
    """A call that a gate let through: which one, with which tool, with what."""

    call: str
    tool: AnyTool
    arguments: Arguments
    recorded: Mapping[str, object] | None = None
    """The arguments for the journal; None when an llm.response has them already."""
    valued: bool = False
    """Whether a script asks: what the tool has for it is recorded too."""
    key: str = ""
    """The idempotency key of an earlier run that may have made the same call; empty: its own."""
    since: int = 0
    """With such a key: unix milliseconds before which no run can have made it."""
    longest: float = OUTAGE
    """Seconds that the call waits in all for a system that is away."""
    waits: bool = True
    """Whether the run waits until the call can be made; one that does not wait is attempted once."""

    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arguments that named a place, each with the id that it was looked up by; the call is sent to these."""

    cleared: bool = False
    """Whether its place was looked up and may be read although it is private."""

    @property
    def sent(self) -> Arguments:
        """The arguments as the tool gets them."""
        return self.arguments.model_copy(update=dict(self.ids))

    @property
    def destination(self) -> str:
        """What of the outside it acts on; all that its tool acts on where the function that says so has a fault."""
        try:
            return self.tool.target.destination(self.arguments)
        except Exception:  # noqa: BLE001 - a tool's own fault must not take the run with it
            return ANYWHERE

    def place(self, event: Event) -> Place | None:
        """Return the place that it acts on; None where its tool declares none.

        Raises ToolError for arguments that name no place, and where the function that says so has a fault.
        """
        if self.tool.target.where is None:
            return None
        try:
            return self.tool.target.where(event, self.arguments)
        except ToolError:
            raise
        except Exception as error:
            # A tool's own fault must not take the run with it.
            text = f"{self.tool.name} was not called: its place cannot be told ({type(error).__name__})."
            raise ToolError(text, code="no_place") from error

    @property
    def intent(self) -> ToolCall:
        """The entry that is written before the call is made."""
        recorded = self.recorded
        if self.ids:
            recorded = {**self.arguments.model_dump(mode="json", exclude_unset=True), **self.ids}
        return ToolCall(self.call, self.tool.name, self.tool.effect, recorded, self.key, self.since)

    @property
    def judged_again(self) -> bool:
        """Whether its place is looked up again when the call is made again: nothing is on record of that."""
        return self.tool.effect == "read" and self.tool.target.where is not None

    def as_recorded(self, intent: ToolCall | None) -> "Permitted":
        """Return the call with the arguments of its intent, where these are on record: names may mean others by now."""
        if intent is None or intent.arguments is None:
            return self
        return replace(self, arguments=self.tool.parse(intent.arguments))

    @property
    def patience(self) -> float:
        """Seconds that it waits in all; a read that the model or a script asked for becomes their error instead."""
        if self.tool.effect == "read" and not is_own(self.call):
            return 0.0
        return self.longest


@dataclass(frozen=True, slots=True)
class Asked:
    """What a subagent is asked, and which files it is given."""

    call: str
    name: str
    prompt: str
    files: tuple[str, ...] = ()
