"""What the runs of a workflow have in common: a path of calls, and the origin of each argument."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gofer.learning.promotion.call_path import CallPath, Step, common_path
from gofer.learning.promotion.observed_run import ObservedCall, ObservedRun
from gofer.learning.promotion.origins import FoundOrigin, Judged, by_name, find_origin
from gofer.learning.promotion.references import Reference, Values, event_values, read_values, result_values
from gofer.projections.tracing.spans import timestamp
from gofer.values.amounts import counted
from gofer.values.canonical_json import as_list, encode_text

KEPT_BACK = 5
"""One of so many runs is kept for the verification."""
FEWEST_RUNS = 5
"""The fewest runs from which a script is drafted."""
LEAST_FOLLOWING = 0.6
"""The least share of the runs that take the common path from its begin to its end."""
MOST_STEPS = 30
"""The most calls of a path that is drafted."""


@dataclass(frozen=True, slots=True)
class PromotedStep:
    """A step of the path with the origins of its arguments."""

    step: Step
    arguments: Mapping[str, FoundOrigin]
    runs: int
    """The number of runs that have the step."""

    @property
    def judged(self) -> Sequence[str]:
        """The arguments that only the model decided."""
        return [name for name, found in self.arguments.items() if isinstance(found.origin, Judged)]


@dataclass(frozen=True, slots=True)
class Promotion:
    """What the runs of a workflow have in common."""

    workflow: str
    path: CallPath
    steps: Sequence[PromotedStep]
    answer: FoundOrigin
    """The origin of the answer, which is a judgement for most workflows."""
    left_out: int = 0
    """The number of runs that were read and not used: too large, or with bad feedback."""
    kept_back: int = 0
    """The number of newer runs, which are kept for the verification."""

    @property
    def until(self) -> str:
        """The time of the newest run, as RFC 3339."""
        return timestamp(max(followed.run.at for followed in self.path.runs))

    @property
    def too_little(self) -> str:
        """Why no script is drafted, with figures; empty if the runs have enough in common."""
        runs = len(self.path.runs)
        following = len(self.path.following)
        if runs < FEWEST_RUNS:
            usable = counted(runs + self.kept_back, "usable recorded run")
            return (
                f"{self.workflow} has {usable}, and a draft needs {FEWEST_RUNS + 1}: {FEWEST_RUNS} to learn from, "
                "and a newer one to verify with."
            )
        if not self.steps:
            return f"Most of the {runs} runs call no tool of a system, so there is no path to draft."
        if following < LEAST_FOLLOWING * runs:
            return (
                f"The most common path has {counted(len(self.steps), 'call')}, and {following} of {runs} runs take "
                f"it; a draft needs {LEAST_FOLLOWING:.0%}."
            )
        if len(self.steps) > MOST_STEPS:
            return f"The common path has {len(self.steps)} calls, and a draft has at most {MOST_STEPS}."
        return ""


Held: TypeAlias = dict[str, dict[Reference, object]]
"""The values that each run could read at one point of the path, by run."""


def oldest(runs: Sequence[ObservedRun]) -> Sequence[ObservedRun]:
    """Return the runs that a script is drafted from. The newest fifth, at least one, is kept for its verification."""
    times = sorted(run.at for run in runs)
    until = times[max(0, len(runs) - 1 - max(1, len(runs) // KEPT_BACK))]
    return [run for run in runs if run.at <= until]


def promote(workflow: str, runs: Sequence[ObservedRun], left_out: int = 0, kept_back: int = 0) -> Promotion:
    """Return what at least one run, and usually many, have in common. The same runs always give the same result."""
    path = common_path(runs)
    held: Held = {followed.run.run: dict(event_values(followed.run.event)) for followed in path.runs}
    steps: list[PromotedStep] = []
    created: list[Reference] = []
    for number in range(len(path.steps[:MOST_STEPS])):
        steps.append(_promoted(path, number, held, created))
        _read_results(path, number, held)
        created += _created(path, number)
    following = path.following or path.runs
    answers = [followed.run.answer for followed in following]
    answer = find_origin(answers, [held[followed.run.run] for followed in following], created)
    return Promotion(workflow, path, steps, answer, left_out, kept_back)


def _promoted(path: CallPath, number: int, held: Held, created: Collection[Reference]) -> PromotedStep:
    step = path.steps[number]
    having = path.having(number)
    calls: list[ObservedCall] = []
    values: list[Values] = []
    for followed in having:
        before = held[followed.run.run]
        for index, call in enumerate(followed.steps[number]):
            calls.append(call)
            values.append({**_item_values(step, before, index), **before})
    arguments = by_name([call.arguments for call in calls])
    found = {name: find_origin(said, values, created) for name, said in arguments.items()}
    return PromotedStep(step, found, len(having))


def _read_results(path: CallPath, number: int, held: Held) -> None:
    """Add the results of a step to the values of each run that has it. The results of loops are not read."""
    if path.steps[number].loop is None:
        for followed in path.having(number):
            held[followed.run.run] |= result_values(number, followed.steps[number][0])


def _created(path: CallPath, number: int) -> Sequence[Reference]:
    """Return the ids in the result of a write that neither its arguments nor the event of the run have."""
    followed = path.having(number)[0]
    call = followed.steps[number][0]
    if call.reads or path.steps[number].loop is not None:
        return ()
    given = encode_text([call.arguments, followed.run.event.text])
    found = result_values(number, call)
    return [
        reference
        for reference, value in found.items()
        if isinstance(value, str) and any(map(str.isdigit, value)) and value not in given and not reference.pattern
    ]


def _item_values(step: Step, before: Values, index: int) -> Values:
    if step.loop is None:
        return {}
    items = as_list(before.get(step.loop.items))
    if index >= len(items):
        return {}
    return read_values("item", items[index])
