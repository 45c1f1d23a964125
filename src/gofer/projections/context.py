"""The context of a run before each request: its tokens by role, file and skill, and what entered and left."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from gofer.journal.entries import ContextCompacted, LlmRequest, LlmResponse, Recorded
from gofer.projections.sent_requests import sent_requests

HIGH = 0.8
"""The share of the window above which the context may not stay after a compaction."""
FULL = 0.9
"""The share of the window that no request may reach."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The context of one request. Tokens are estimates, except `counted`."""

    number: int
    """The number of the request, counted from 1."""
    address: str
    """The address of its entry."""
    at: int
    """Unix milliseconds."""
    window: int
    """The window in force, in tokens; 0 if the journal does not name it."""
    expected: int
    """The expected tokens of the request."""
    counted: int
    """The tokens that the provider counted; 0 without an answer."""
    roles: Mapping[str, int]
    """Tokens by role: system, tools, skills, files, history, tail."""
    files: Mapping[str, int]
    """Tokens of each file by its id, and of each loaded skill as `skill <name>`."""
    pinned: Mapping[str, int]
    """Tokens of each text that must stay: `system prompt`, `tools`, `first message`, `skill <name>`."""
    entered: Sequence[str]
    """The names of what entered since the request before, in order."""
    left: Sequence[str]
    """The names of what left since the request before, in order."""
    problem: str
    """One sentence about pinned text that left the view, or about a request that cannot be built again; else empty."""

    @property
    def tokens(self) -> int:
        """The counted tokens of the request, or the expected ones without an answer."""
        return self.counted or self.expected

    @property
    def share(self) -> float:
        """The share of the window that the request fills; 0 if the window is unknown."""
        return share_of(self.tokens, self.window)


def share_of(tokens: int, window: int) -> float:
    """Return the share of a window that tokens fill; 0 for an unknown window."""
    if not window:
        return 0.0
    return tokens / window


def snapshots(entries: Sequence[Recorded], system: str, tools: Sequence[Mapping[str, object]]) -> Sequence[Snapshot]:
    """Return the context of each request of a journal, with the system prompt and the tool schemas of its bundle."""
    return tuple(_snapshots(entries, system, tools))


def _snapshots(entries: Sequence[Recorded], system: str, tools: Sequence[Mapping[str, object]]) -> Iterator[Snapshot]:
    for sent in sent_requests(entries, system, tools):
        weights = sent.request.weights
        if weights is None:
            continue
        yield Snapshot(
            number=sent.number,
            address=sent.recorded.address,
            at=sent.recorded.at,
            window=weights.window,
            expected=weights.expected,
            counted=0,
            roles=weights.roles,
            files={},
            pinned={},
            entered=(),
            left=(),
            problem="",
        )


@dataclass(slots=True)
class Utilisation:
    """How much of the window in force the requests of one run filled so far."""

    shares: list[float] = field(default_factory=list[float])
    """The share of the window that each request filled, as counted, or as expected without an answer."""
    peak: float = 0.0
    """The greatest share."""
    compacted: bool = False
    """Whether the history was compacted since the last request."""
    stayed_high: bool = False
    """Whether a request filled more than HIGH of the window right after a compaction."""
    lost: list[str] = field(default_factory=list[str])
    """The names of pinned text that left the view, in order."""
    windows: list[int] = field(default_factory=list[int])
    """The window of each request, in tokens."""


def project(entries: Iterable[Recorded]) -> Utilisation:
    """Return the utilisation of a whole journal."""
    state = Utilisation()
    for recorded in entries:
        fold(state, recorded)
    return state


def fold(state: Utilisation, recorded: Recorded) -> None:
    """Add one more entry to the utilisation, in place."""
    match recorded.entry:
        case LlmRequest(weights=weights) if weights is not None and weights.window:
            _add_share(state, share_of(weights.expected, weights.window))
            state.windows.append(weights.window)
        case LlmResponse(usage=usage) if state.windows and usage.input_tokens:
            state.shares[-1] = share_of(usage.input_tokens, state.windows[-1])
            state.peak = max(state.peak, state.shares[-1])
        case ContextCompacted(kept=kept):
            state.compacted = True
            if not kept:
                state.lost.append("first message")
        case _:
            pass


def _add_share(state: Utilisation, share: float) -> None:
    state.shares.append(share)
    state.peak = max(state.peak, share)
    if state.compacted and share > HIGH:
        state.stayed_high = True
    state.compacted = False
