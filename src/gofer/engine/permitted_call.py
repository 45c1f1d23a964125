"""A call that may be made, with the declarations of its tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from gofer.journal.entries import ToolCall
from gofer.journal.purposes import is_own
from gofer.tools.definition import ANYWHERE, AnyTool, Arguments
from gofer.tools.places import Place
from gofer.tools.readable import Readable
from gofer.values.errors import ToolError
from gofer.values.events import Event
from gofer.values.foreign_code import RAISED, is_from_outside, of_kind

OUTAGE = 1_800.0
"""Total seconds that a run waits for a system that does not answer, for one call that it needs."""
DELIVERY = 86_400.0
"""Total seconds of that wait for a call that delivers the answer."""

Gate = Callable[[], None]
"""A last check, called right before the intent of a call is noted; it raises when the call may not begin."""


def permit_all() -> None:
    """Permit every call; the caller has checked before."""


@dataclass(frozen=True, slots=True)
class Permitted:
    """A call that the gates permitted, with its tool and parsed arguments."""

    call: str
    tool: AnyTool
    arguments: Arguments
    recorded: Mapping[str, object] | None = None
    """The arguments for the journal; None when an llm.response has them already."""
    rebuilt: bool = False
    """Whether the arguments differ from those asked for, because people read them (`outgoing.py`)."""
    for_script: bool = False
    """Whether a script made the call, so that the journal also records the tool's value for scripts."""
    key: str = ""
    """The idempotency key of an earlier run that may have made the same call; empty uses a key of this run."""
    since: int = 0
    """With such a key: the unix milliseconds before which no run can have made the call."""
    longest_wait: float = OUTAGE
    """Total seconds that the call waits for a system that does not answer."""
    waits: bool = True
    """Whether the run waits until the call can be made; a call that does not wait is attempted once."""

    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """Arguments that name a place, each with the id that a look-up found; the call is sent to these ids."""

    cleared: bool = False
    """Whether a look-up found that the run may read the place although it is private."""
    readable: Readable = field(default_factory=Readable)
    """What a read may read in its system besides the object that the run is about."""

    @property
    def sent_arguments(self) -> Arguments:
        """The arguments that the tool gets, with ids in place of names."""
        return self.arguments.model_copy(update=dict(self.ids))

    @property
    def destination(self) -> str:
        """The object that the call acts on; ANYWHERE if the tool's own function fails."""
        try:
            return of_kind(self.tool.target.destination(self.arguments), str)
        except RAISED as error:
            # A bug of a tool must not end the run.
            if is_from_outside(error):
                raise
            return ANYWHERE

    def place(self, event: Event) -> Place | None:
        """Return the place that the call acts on; None if its tool declares none.

        Raises ToolError for arguments that name no place, and when the tool's own function fails.
        """
        if self.tool.target.where is None:
            return None
        try:
            return of_kind(self.tool.target.where(event, self.arguments), Place)
        except ToolError:
            raise
        except RAISED as error:
            if is_from_outside(error):
                raise
            # A bug of a tool must not end the run.
            text = f"{self.tool.name} was not called: its place cannot be determined ({type(error).__name__})."
            raise ToolError(text, code="no_place") from error

    @property
    def intent(self) -> ToolCall:
        """The journal entry that is written before the call is made."""
        recorded = self.recorded
        if self.ids:
            recorded = {**self.arguments.model_dump(mode="json", exclude_unset=True), **self.ids}
        return ToolCall(self.call, self.tool.name, self.tool.effect, recorded, self.key, self.since)

    @property
    def judged_again(self) -> bool:
        """Whether a repeated call is judged again: the journal does not record what a read may read."""
        return self.tool.effect == "read" and bool(self.tool.target.system)

    def as_recorded(self, intent: ToolCall | None) -> "Permitted":
        """Return the call with the arguments that its intent recorded, if any: a name may mean another place by now."""
        if intent is None or intent.arguments is None:
            return self
        return replace(self, arguments=self.tool.parse(intent.arguments))

    @property
    def outage_wait(self) -> float:
        """Total seconds that the call waits in an outage; 0 for a read of a model or a script, which gets an error."""
        if self.tool.effect == "read" and not is_own(self.call):
            return 0.0
        return self.longest_wait


@dataclass(frozen=True, slots=True)
class SubagentCall:
    """A call of a subagent: its prompt, and the files that it gets."""

    call: str
    name: str
    prompt: str
    files: tuple[str, ...] = ()
