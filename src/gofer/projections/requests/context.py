"""The context of a run before each request: its tokens by role, file and skill, and what entered and left."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from gofer.journal.entries import LlmRequest, LlmResponse, Recorded
from gofer.journal.workspace_entries import ContextCompacted, SkillLoaded, Weights
from gofer.projections.requests import context_parts
from gofer.projections.requests.context_parts import FIRST_MESSAGE, History, Part, names, skill_name
from gofer.projections.requests.request_parts import RequestWeights
from gofer.projections.requests.sent_requests import SentRequest, missing_text, sent_requests
from gofer.values.tokens import estimate

HIGH = 0.8
"""The share of the window from which the context drifts: compaction begins there, so that it did not help."""
FULL = 0.9
"""The share of the window that no request may reach."""
_REQUIRED = re.compile(
    r"(?:^|\n\n)(# Skill: (?P<name>[^\n]+)\n.*?)(?=\n\n# (?:Skill: |Output\n|Skills\n|More tools\n|Subagents\n)|\Z)",
    re.DOTALL,
)
"""A required skill within a system prompt, up to the next section that code writes."""
SYSTEM_PROMPT = "system prompt"
FIXED_ROLES = {"system": SYSTEM_PROMPT, "tools": "tools"}
"""The names of the fixed beginning of every request, by role."""


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
    """Tokens of each text that must stay: `system prompt` without its skills, `required skill <name>`, `tools`,
    `first message`, and `skill <name>` for a loaded skill."""
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
    view = _View(system, tools)
    sent = {request.recorded.address: request for request in sent_requests(entries, system, tools)}
    for recorded in entries:
        match recorded.entry:
            case LlmRequest():
                view.add(sent[recorded.address])
            case LlmResponse(usage=usage) if view.snapshots:
                view.snapshots[-1] = replace(view.snapshots[-1], counted=usage.input_tokens)
            case _:
                pass
        context_parts.fold(view.history, recorded)
    return tuple(view.snapshots)


class _View:
    """The context of one run while its journal is read."""

    def __init__(self, system: str, tools: Sequence[Mapping[str, object]]) -> None:
        self.history = History()
        self.snapshots: list[Snapshot] = []
        self._system = system
        self._required = {f"required skill {found['name']}": estimate(found[1]) for found in _REQUIRED.finditer(system)}
        self._tools = tools
        self._weights = RequestWeights(system, tools)
        self._parts: tuple[Part, ...] = ()
        self._pinned: Mapping[str, int] = {}

    def add(self, sent: SentRequest) -> None:
        """Add the snapshot of a request."""
        parts = tuple(self.history.parts)
        tokens = self._weights.parts(self.history.conversation)
        weights = sent.request.weights
        if weights is None:
            weights = self._estimated(sent)
        files = _tokens_by_name(parts, tokens)
        pinned = self._pinned_text(weights, parts, tokens, files)
        entered = names(parts, self._parts)
        if not self.snapshots:
            entered = (*(name for name in FIXED_ROLES.values() if name in pinned), *entered)
        snapshot = Snapshot(
            number=sent.number,
            address=sent.recorded.address,
            at=sent.recorded.at,
            window=weights.window,
            expected=weights.expected,
            counted=0,
            roles=weights.roles,
            files=files,
            pinned=pinned,
            entered=entered,
            left=names(self._parts, parts),
            problem=self._problem(sent, pinned),
        )
        self.snapshots.append(snapshot)
        self._parts = parts
        self._pinned = pinned

    def _estimated(self, sent: SentRequest) -> Weights:
        """Return the estimates of a request whose journal has none; its window is unknown."""
        weight = self._weights.weigh(self.history.conversation, sent.request.tail)
        return Weights(weight.roles, weight.kinds, 0, sum(weight.kinds.values()))

    def _pinned_text(
        self, weights: Weights, parts: Sequence[Part], tokens: Sequence[int], files: Mapping[str, int]
    ) -> Mapping[str, int]:
        fixed = {name: weights.roles[role] for role, name in FIXED_ROLES.items() if weights.roles.get(role)}
        pinned = {**fixed, **self._required}
        if SYSTEM_PROMPT in pinned:
            pinned[SYSTEM_PROMPT] -= sum(self._required.values())
        if parts and parts[0].name == FIRST_MESSAGE:
            pinned[FIRST_MESSAGE] = tokens[0]
        loaded = dict.fromkeys(skill_name(skill) for part in parts for skill in part.skills)
        return {**pinned, **{name: files[name] for name in loaded}}

    def _problem(self, sent: SentRequest, pinned: Mapping[str, int]) -> str:
        problems: list[str] = []
        if not sent.is_exact:
            missing = missing_text(sent, self._system, self._tools)
            problems.append(f"The request was not sent as its journal and bundle say: {missing}.")
        if lost := [name for name in self._pinned if name not in pinned]:
            problems.append(f"Pinned text left the view: {', '.join(lost)}.")
        return " ".join(problems)


def _tokens_by_name(parts: Sequence[Part], tokens: Sequence[int]) -> Mapping[str, int]:
    found: dict[str, int] = {}
    for part, weight in zip(parts, tokens, strict=True):
        for name, share in part.tokens_by_name(weight):
            found[name] = found.get(name, 0) + share
    return found


DriftCause = Literal["full", "stayed_high", "lost"]
"""How the context of a run drifted: a request filled HIGH of its window, or did so right after a compaction, or pinned
text left the view."""


@dataclass(slots=True)
class Utilisation:
    """How much of the window in force the requests of one run filled so far, and the pinned text that left the view."""

    shares: list[float] = field(default_factory=list[float])
    """The share of the window that each request filled, as counted, or as expected without an answer."""
    window: int = 0
    """The window of the last request, in tokens; 0 before the first."""
    after_compaction: bool = False
    """Whether the next request, or the last one without an answer, is the first after a compaction."""
    full: bool = False
    """Whether a request was expected to fill HIGH of the window, or did, and not right after a compaction."""
    stayed_high: bool = False
    """Whether a request filled HIGH of the window right after a compaction."""
    lost: list[str] = field(default_factory=list[str])
    """The names of pinned text that left the view, in order."""
    turn: int = 0
    """The number of answers of the model, without empty ones."""
    loaded: dict[str, int] = field(default_factory=dict[str, int])
    """The turn in which each skill in the view was loaded, by its name."""
    fixed: dict[str, int] = field(default_factory=dict[str, int])
    """The tokens of the system prompt and the tools in the first request."""

    @property
    def peak(self) -> float:
        """The greatest share; 0 before the first request."""
        return max(self.shares, default=0.0)

    @property
    def share(self) -> float:
        """The share of the window that the last request filled; 0 before the first."""
        if not self.shares:
            return 0.0
        return self.shares[-1]

    @property
    def causes(self) -> frozenset[DriftCause]:
        """The causes of drift so far."""
        if not (self.full or self.stayed_high or self.lost):
            # The owner looks at each entry, and few runs drift.
            return frozenset()
        found: dict[DriftCause, bool] = {
            "full": self.full,
            "stayed_high": self.stayed_high,
            "lost": bool(self.lost),
        }
        return frozenset(cause for cause, occurred in found.items() if occurred)


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
            _add_request(state, weights)
        case LlmResponse(usage=usage) as answer:
            # Empty answers enter no history, and compactions do not count them.
            state.turn += bool(answer.text.strip() or answer.tool_calls)
            if state.shares and usage.input_tokens:
                _set_share(state, share_of(usage.input_tokens, state.window))
            state.after_compaction = False
        case SkillLoaded(skill=skill, file=""):
            state.loaded[skill] = state.turn
        case ContextCompacted() as compacted:
            _compact(state, compacted)
        case _:
            pass


def _add_request(state: Utilisation, weights: Weights) -> None:
    state.window = weights.window
    state.shares.append(0.0)
    _set_share(state, share_of(weights.expected, weights.window))
    fixed = {name: weights.roles.get(role, 0) for role, name in FIXED_ROLES.items()}
    state.fixed = state.fixed or fixed
    for name, tokens in fixed.items():
        # Nothing changes the fixed beginning of a run's requests, so less of it means that a part is missing.
        if tokens < state.fixed[name] and name not in state.lost:
            state.lost.append(name)


def _set_share(state: Utilisation, share: float) -> None:
    state.shares[-1] = share
    if share < HIGH:
        return
    if state.after_compaction:
        state.stayed_high = True
    else:
        state.full = True


def _compact(state: Utilisation, compacted: ContextCompacted) -> None:
    state.after_compaction = True
    if not compacted.kept and compacted.turns[0] == 1:
        state.lost.append(FIRST_MESSAGE)
    for skill, turn in list(state.loaded.items()):
        if turn <= compacted.turns[1]:
            del state.loaded[skill]
            state.lost.append(skill_name(skill))
