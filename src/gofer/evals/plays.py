"""One play of a case: the runs that it started, and the changes that they made to the world."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.entries import Recorded
from gofer.journal.grade_entries import Evidence
from gofer.projections.progress import Progress
from gofer.values.visible import Visible
from gofer.workflows.bundle import Bundle


@dataclass(frozen=True, slots=True)
class PlayedTurn:
    """One run of a play."""

    run: str
    entries: Sequence[Recorded]
    progress: Progress
    bundle: Bundle | None
    """The workflow, prompt and tools of the run; None for a run that did not start."""
    seen: Sequence[Visible] = ()
    subagents: Mapping[str, Sequence[Recorded]] = field(default_factory=dict[str, Sequence[Recorded]])
    """The journals of its subagent runs, by run."""
    files: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    """The contents of the files that the run and its subagent runs stored, by the name of the body."""
    given_answers: int = 0
    """The answers of the model at the begin of the journal that the history of a decision point gave."""
    world: Mapping[str, object] | None = None
    """The changes to the world in this turn, as in `Play.world`; None in a play of one turn."""

    @property
    def journals(self) -> Mapping[str, Sequence[Recorded]]:
        """The journals of the run and of its subagent runs, by run."""
        return {self.run: self.entries, **self.subagents}


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step in which the replay of a golden differs from its recording."""

    turn: int
    """Counted from 1."""
    expected: str
    """The step as it was recorded, in one line."""
    happened: str
    step: str
    """The id of the call, or the entry; empty for a replay that ended before a step differed."""


@dataclass(frozen=True, slots=True)
class Play:
    """One play of a case, before it is graded."""

    turns: Sequence[PlayedTurn]
    world: Mapping[str, object]
    """The changes to the world: `added`, `removed`, `changed`, as `gofer run --world` prints them."""
    evidence: Evidence
    latency_ms: int
    before: Mapping[str, object] = field(default_factory=dict[str, object])
    """The world before the play, by system; empty without a world."""
    after: Mapping[str, object] = field(default_factory=dict[str, object])
    """The world after the play."""
    no_evidence: str = ""
    """Why the play says nothing, such as a request without a recorded answer; empty for a play that can be graded."""
    mistake: str = ""
    """The mistake because of which the play is not graded: in the files of a golden, which was not played then, or in a
    mock; empty if there is none."""
    person_usd: float | None = 0.0
    """The US dollars of the messages of a `user` whom a model played; None if its price is unknown."""
    infrastructure: str = ""
    """The failure of infrastructure that ended the play; empty if there was none."""
    live_tools: bool = False
    """Whether tools reached real systems; their changes are not known."""
    systems: Collection[str] | None = None
    """The systems of the simulated world, empty without a world; None if each system that a case names was there."""
    recorded: Sequence[Sequence[Recorded]] = field(default_factory=tuple[Sequence[Recorded], ...])
    """The journals of the golden that the play is compared with, turn by turn; empty if there is nothing to compare."""
    ids: Mapping[str, str] = field(default_factory=dict[str, str])
    """For a golden in another world, the id of the world for each recorded id that the play has met."""
    recorded_turns: Sequence[PlayedTurn] = ()
    """The turns of a golden that was not played, as they were recorded; empty for a play."""
    is_replay: bool = False
    """Whether the play is the replay of a golden, which asks no model."""
    difference: Difference | None = None
    """How the replay of a golden differs from its recording; None if every step is equal."""
