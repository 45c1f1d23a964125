"""The difference of two runs: their bundles, the first differing entry, the prompt before it, and what followed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from gofer.journal import entries as e
from gofer.projections import calls as calls_projection
from gofer.projections import progress as progress_projection
from gofer.projections.calls import Call
from gofer.projections.comparison.bundle_diff import bundle_diff
from gofer.projections.comparison.compared_entries import ComparedEntry, compared_entries
from gofer.projections.comparison.generated_names import GeneratedNames
from gofer.projections.comparison.prompt_diff import Prompt, RoleDiff, prompt_diff
from gofer.projections.prompted_run import PromptedRun
from gofer.projections.requests.sent_requests import SentRequest, sent_requests
from gofer.values.canonical_json import as_object

MOST_SUBAGENTS = 20
"""The most pairs of subagent runs that are compared at each level."""


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in numbers."""

    run: str
    workflow: str
    status: str
    """How it ended; `running` before its end, and `damaged` if its end cannot be read."""
    reason: str
    llm_calls: int
    tool_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None if the price of a call is unknown."""
    duration_ms: int
    """From its acceptance to its last entry."""
    damage: str
    """Why the rest of its journal cannot be read; empty for a complete journal."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first entries of two runs that differ; None for a run that has no further entry."""

    first: ComparedEntry | None
    second: ComparedEntry | None
    fields: Mapping[str, tuple[object, object]]
    """What differs between two entries of one kind, by the name of the field; empty for different kinds."""


@dataclass(frozen=True, slots=True)
class Followed:
    """What a run did from the first difference on."""

    llm_calls: int
    deferrals: int
    """How often a model or a tool did not answer."""
    calls: Sequence[Call]


@dataclass(frozen=True, slots=True)
class PromptDiff:
    """The difference of the last requests before the first difference, or of the first ones if there are none."""

    requests: tuple[int, int]
    """The numbers of the requests, as in the spans `llm/<number>`."""
    is_exact: bool
    """Whether both requests are built again byte by byte."""
    roles: Sequence[RoleDiff]


@dataclass(frozen=True, slots=True)
class RunDiff:
    """The difference of two runs."""

    runs: tuple[Summary, Summary]
    equal_entries: int
    """The number of equal entries before the first difference."""
    bundle: Sequence[str]
    """The parts of the bundle that differ, each with its values if they are short."""
    first: FirstDifference | None
    """None if all entries mean the same."""
    prompt: PromptDiff | None
    """None if the runs are equal, or if one of them asked no model."""
    followed: tuple[Followed, Followed] | None
    subagents: Mapping[str, "RunDiff"]
    """The differing pairs of subagent runs, by the call that asked for them."""

    @property
    def is_equal(self) -> bool:
        """Whether the runs, their bundles and their subagent runs mean the same. A damaged run equals no run."""
        is_damaged = any(run.damage for run in self.runs)
        return not is_damaged and not self.bundle and self.first is None and not self.subagents


def run_diff(first: PromptedRun, second: PromptedRun) -> RunDiff:
    """Return the difference of two runs and of their subagent runs."""
    mine = compared_entries(first.run, first.entries)
    other = compared_entries(second.run, second.entries)
    names = GeneratedNames(), GeneratedNames()
    equal = _equal_entries(mine, other, names)
    difference = None
    if equal < max(len(mine), len(other)):
        difference = _difference(_at(mine, equal), _at(other, equal), names)
    bundle = bundle_diff(first.bundle, second.bundle)
    prompt = None
    followed = None
    if difference is not None or bundle:
        prompt = _prompt_diff((first, _at(mine, equal)), (second, _at(other, equal)), names)
    if difference is not None:
        followed = _followed(first, difference.first), _followed(second, difference.second)
    return RunDiff(
        runs=(summary(first), summary(second)),
        equal_entries=equal,
        bundle=bundle,
        first=difference,
        prompt=prompt,
        followed=followed,
        subagents=dict(_differing_subagents(first, second)),
    )


Names = tuple[GeneratedNames, GeneratedNames]


def _equal_entries(mine: Sequence[ComparedEntry], other: Sequence[ComparedEntry], names: Names) -> int:
    """Return the number of equal entries at the beginning. The names are those up to the first difference."""
    for count, (one, two) in enumerate(zip(mine, other, strict=False)):
        names[0].learn(one.names)
        names[1].learn(two.names)
        if not _is_equal(one, two, names):
            return count
    return min(len(mine), len(other))


def _is_equal(one: ComparedEntry, two: ComparedEntry, names: Names) -> bool:
    if one.kind != two.kind:
        return False
    return one.meaning == two.meaning or names[0].plain(one.meaning) == names[1].plain(two.meaning)


def _at(entries: Sequence[ComparedEntry], index: int) -> ComparedEntry | None:
    if index < len(entries):
        return entries[index]
    return None


def _difference(one: ComparedEntry | None, two: ComparedEntry | None, names: Names) -> FirstDifference:
    fields: dict[str, tuple[object, object]] = {}
    if one is not None and two is not None and one.kind == two.kind:
        for name in one.meaning.keys() | two.meaning.keys():
            values = names[0].plain(one.meaning.get(name)), names[1].plain(two.meaning.get(name))
            if values[0] != values[1]:
                fields[name] = values
    return FirstDifference(one, two, dict(sorted(fields.items())))


def _prompt_diff(
    first: tuple[PromptedRun, ComparedEntry | None], second: tuple[PromptedRun, ComparedEntry | None], names: Names
) -> PromptDiff | None:
    one = _request_before(*first)
    two = _request_before(*second)
    if one is None or two is None:
        return None
    prompts = (
        Prompt(one, first[0].system, first[0].tools, names[0]),
        Prompt(two, second[0].system, second[0].tools, names[1]),
    )
    return PromptDiff((one.number, two.number), one.is_exact and two.is_exact, prompt_diff(*prompts))


def _request_before(run: PromptedRun, entry: ComparedEntry | None) -> SentRequest | None:
    """Return the last request up to an entry, or the first request if there is none; None if no model was asked."""
    found: SentRequest | None = None
    for request in sent_requests(run.entries, run.system, run.tools):
        if found is not None and entry is not None and _position(request.recorded.address) > _position(entry.address):
            return found
        found = request
    return found


def _position(address: str) -> tuple[int, int]:
    frame, _, index = address.partition(".")
    return int(frame), int(index)


def _followed(run: PromptedRun, entry: ComparedEntry | None) -> Followed:
    if entry is None:
        return Followed(0, 0, ())
    begin = _position(entry.address)
    later = [recorded for recorded in run.entries if (recorded.n, recorded.i) >= begin]
    return Followed(
        llm_calls=sum(isinstance(recorded.entry, e.LlmResponse) for recorded in later),
        deferrals=sum(isinstance(recorded.entry, e.CallDeferred) for recorded in later),
        calls=[call for call in calls_projection.project(run.entries).calls.values() if _ends_after(call, begin)],
    )


def _ends_after(call: Call, begin: tuple[int, int]) -> bool:
    return not call.is_own and (not call.ended_in or _position(call.ended_in) >= begin)


def _differing_subagents(first: PromptedRun, second: PromptedRun) -> Iterator[tuple[str, RunDiff]]:
    """Yield the differing pairs of subagent runs. Two subagent runs are a pair if the same call asked for both."""
    mine = _asked(first)
    other = _asked(second)
    both = [call for call in mine if call in other]
    for call in both[:MOST_SUBAGENTS]:
        diff = run_diff(_without_limits(mine[call]), _without_limits(other[call]))
        if not diff.is_equal:
            yield call, diff


def _asked(run: PromptedRun) -> Mapping[str, PromptedRun]:
    """Return the readable subagent runs by the names and calls that asked for them, in the order of the journal."""
    asked: dict[str, PromptedRun] = {}
    for recorded in run.entries:
        match recorded.entry:
            case e.SubagentStarted(run=child) as started if child in run.subagents:
                asked.setdefault(f"{started.name} ({started.call})", run.subagents[child])
            case _:
                pass
    return asked


def _without_limits(run: PromptedRun) -> PromptedRun:
    """Return a subagent run without the limits in its bundle, which are what the asking run had left."""
    workflow = {name: value for name, value in as_object(run.bundle.get("workflow")).items() if name != "limits"}
    return replace(run, bundle={**run.bundle, "workflow": workflow})


def summary(run: PromptedRun) -> Summary:
    """Return a run in numbers."""
    state = progress_projection.project(run.entries)
    status = "running"
    reason = ""
    if run.damage:
        status = "damaged"
    if state.finished is not None:
        status = state.finished.status
        reason = state.finished.reason
    return Summary(
        run=run.run,
        workflow=state.workflow,
        status=status,
        reason=reason,
        llm_calls=state.llm_calls,
        tool_calls=state.tool_calls,
        input_tokens=state.usage.input_tokens,
        output_tokens=state.usage.output_tokens,
        cost_usd=state.cost_usd,
        duration_ms=max(0, state.last_at - state.accepted_at),
        damage=run.damage,
    )
