"""What is unusual of a run against other runs of its workflow. Each finding is advice, never an error.

A rule that flags many other runs says little. So each rule is also applied to every one of them against the rest,
and each finding names how many it flags: the measured rate of false alarms.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median
from typing import Literal

from gofer.journal import entries as e
from gofer.projections.calls import Call
from gofer.projections.calls import project as project_calls
from gofer.projections.progress import Progress
from gofer.projections.tool_names import known_tools, shown_tool
from gofer.values.messages import Usage

LEAST_RUNS = 20
"""The fewest other runs that are a baseline."""
MOST_RUNS = 200
"""The most other runs that a run is compared with."""
SEARCHED = (MOST_RUNS, 10 * MOST_RUNS, 10_000)
"""The numbers of newest runs that are searched, one after the other, until enough of the workflow are found."""
UNUSUAL = 3.5
"""The least robust z of an unusual number (Iglewicz and Hoaglin)."""
LEAST_SHARE = 0.1
"""The least share of the median that counts as one deviation, so that runs that are all alike flag no small change."""
RARE = 0.05
"""The greatest share of other runs with an answer of a kind that is unusual."""
_MAD_OF_NORMAL = 1.4826
"""The standard deviation of normal values per median absolute deviation."""
_NAMED = 5
"""The most tools that a finding names."""

Measure = Literal["tokens", "cost", "duration", "model calls", "refused calls"]
FLOORS: Mapping[Measure, float] = {
    "tokens": 500,
    "cost": 0.001,
    "duration": 1_000,
    "model calls": 1,
    "refused calls": 1,
}
"""The numbers of a run, each with the least that counts as one deviation: tokens, US dollars, milliseconds, calls."""
Answer = Literal["given", "empty", "cut off"]


@dataclass(frozen=True, slots=True)
class Traits:
    """What of one run is compared."""

    numbers: Mapping[Measure, float]
    """The cost is absent if it is not known."""
    tools: frozenset[str]
    """The tools that a model or a script called."""
    pairs: frozenset[tuple[str, str]]
    """The tools of two calls in a row."""
    answer: Answer
    usage: Usage = field(default_factory=Usage)
    """The tokens of the run and of its subagents."""
    misses: Mapping[str, int] = field(default_factory=dict[str, int])
    """As in `cache_misses`."""


@dataclass(frozen=True, slots=True)
class Anomaly:
    """One unusual trait of a run."""

    rule: str
    finding: str
    """One sentence part with names and numbers, without contents."""
    false_alarms: int
    """How many of the other runs the same rule flags, each against the rest."""


@dataclass(frozen=True, slots=True)
class Anomalies:
    """The unusual traits of a run."""

    runs: int
    """The number of other runs."""
    found: Sequence[Anomaly]
    flagged_runs: int
    """How many of the other runs any rule flags."""

    @property
    def has_baseline(self) -> bool:
        """Whether there are enough other runs."""
        return self.runs >= LEAST_RUNS


def traits(entries: Sequence[e.Recorded], progress: Progress, schemas: Sequence[Mapping[str, object]]) -> Traits:
    """Return what of a run with these tool schemas is compared."""
    calls = [call for call in project_calls(entries).calls.values() if not call.is_own]
    known = known_tools(calls, schemas)
    tools = [shown_tool(call.tool, known) for call in calls]
    return Traits(
        dict(_numbers(progress, calls)),
        frozenset(tools),
        frozenset(pairwise(tools)),
        _answer(entries),
        progress.usage,
        cache_misses(entries),
    )


def cache_misses(entries: Sequence[e.Recorded]) -> Mapping[str, int]:
    """Return how often the provider did not read the beginning of a request from its cache, by its reason."""
    answers = [one.entry for one in entries if isinstance(one.entry, e.LlmResponse)]
    return Counter(answer.cache_miss for answer in answers if answer.cache_miss)


def _numbers(progress: Progress, calls: Sequence[Call]) -> Iterator[tuple[Measure, float]]:
    yield "tokens", progress.usage.input_tokens + progress.usage.output_tokens
    if progress.cost_usd is not None:
        yield "cost", progress.cost_usd
    yield "duration", progress.last_at - progress.accepted_at
    yield "model calls", progress.llm_calls
    yield "refused calls", sum(call.status == "refused" for call in calls)


def _answer(entries: Sequence[e.Recorded]) -> Answer:
    """Return whether the answer of a run is empty, or was cut off at the limit of its model."""
    kind: Answer = "given"
    for recorded in entries:
        match recorded.entry:
            case e.LlmResponse(finish_reason=finish):
                kind = "given"
                if finish == "length":
                    kind = "cut off"
            case e.RunConcluded(status="done", text=text, output=None) if not text.strip():
                kind = "empty"
            case _:
                pass
    return kind


Rule = Callable[[Traits, Sequence[Traits]], str]
"""A rule returns what is unusual of a run against others; an empty text if nothing is."""


def _of_measure(measure: Measure) -> Rule:
    def rule(run: Traits, others: Sequence[Traits]) -> str:
        known = [other.numbers[measure] for other in others if measure in other.numbers]
        if measure not in run.numbers or len(known) < LEAST_RUNS - 1:
            return ""
        value = run.numbers[measure]
        middle = median(known)
        deviation = median(abs(number - middle) for number in known) * _MAD_OF_NORMAL
        z = (value - middle) / max(deviation, abs(middle) * LEAST_SHARE, FLOORS[measure])
        if abs(z) < UNUSUAL:
            return ""
        return f"{_shown(measure, value)}; the median is {_shown(measure, middle)} (robust z {z:+.1f})"

    return rule


def _shown(measure: Measure, value: float) -> str:
    match measure:
        case "cost":
            return f"{value:.4f} USD"
        case "duration":
            return f"{value / 1000:,.1f} s"
        case "tokens" | "model calls" | "refused calls":
            return f"{value:,.0f} {measure}"


def _unseen_tools(run: Traits, others: Sequence[Traits]) -> str:
    unseen = run.tools.difference(*(other.tools for other in others))
    if not unseen:
        return ""
    return f"called {_named(unseen)}, which no other run called"


def _unseen_pairs(run: Traits, others: Sequence[Traits]) -> str:
    unseen = run.pairs.difference(*(other.pairs for other in others))
    if not unseen:
        return ""
    named = _named({f"{after} after {before}" for before, after in unseen})
    return f"called {named}, as no other run did"


def _named(names: frozenset[str] | set[str]) -> str:
    listed = sorted(names)
    if len(listed) > _NAMED:
        return f"{', '.join(listed[:_NAMED])} and {len(listed) - _NAMED} more"
    return ", ".join(listed)


def _unusual_answer(run: Traits, others: Sequence[Traits]) -> str:
    alike = sum(other.answer == run.answer for other in others)
    if run.answer == "given" or alike > len(others) * RARE:
        return ""
    return f"its answer is {run.answer}, as in {alike} of {len(others)} other runs"


RULES: Mapping[str, Rule] = {
    **{measure: _of_measure(measure) for measure in FLOORS},
    "unseen tool": _unseen_tools,
    "unseen pair of tools": _unseen_pairs,
    "answer": _unusual_answer,
}
"""The rules by their names."""


def anomalies(run: Traits, earlier: Sequence[Traits]) -> Anomalies:
    """Return what is unusual of a run against earlier runs; nothing if there are fewer than LEAST_RUNS."""
    if len(earlier) < LEAST_RUNS:
        return Anomalies(len(earlier), (), 0)
    flagged = {name: _flagged(rule, earlier) for name, rule in RULES.items()}
    found = [
        Anomaly(name, finding, len(flagged[name])) for name, rule in RULES.items() if (finding := rule(run, earlier))
    ]
    return Anomalies(len(earlier), found, len(frozenset[int]().union(*flagged.values())))


def _flagged(rule: Rule, runs: Sequence[Traits]) -> frozenset[int]:
    """Return the indexes of the runs that a rule flags against all others."""
    return frozenset(index for index, run in enumerate(runs) if rule(run, [*runs[:index], *runs[index + 1 :]]))
