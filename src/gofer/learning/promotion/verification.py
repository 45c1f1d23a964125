"""The verification of a script: call by call, how many recorded runs it reproduces, and where it first differs."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gofer.learning.promotion.call_path import CallPath, common_path, unordered_groups
from gofer.learning.promotion.observed_run import ObservedCall, ObservedRun
from gofer.learning.promotion.references import Reference, event_values
from gofer.projections.tracing.spans import timestamp
from gofer.values.canonical_json import encode, encode_text

ANSWER = "the answer"
MOST_TRAITS = 3
"""The most values of the event that are shown as the trait of a run."""
_QUOTED = 160
_DRAFTED = re.compile(r"drafted from \d+ recorded runs? until (\S+Z)\.")
"""The sentence of a drafted script that says which runs it was drafted from."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What a script did on the event of a recorded run."""

    calls: Sequence[ObservedCall]
    answer: str
    stopped: str = ""
    """Why the script did not end as done; empty if it did."""


@dataclass(frozen=True, slots=True)
class FirstDifference:
    """The first call in which a script differs from a recorded run."""

    call: int
    """The number of the call, counted from 1; 0 for the answer or the end."""
    words: str
    recorded: str = ""
    produced: str = ""


@dataclass(frozen=True, slots=True)
class VerifiedRun:
    """A recorded run, and whether the script reproduces it."""

    run: str
    difference: FirstDifference | None
    traits: Sequence[str] = ()
    """The values of the event that no reproduced run has, in words."""
    is_new: bool = False
    """Whether the run is newer than those that the script was drafted from."""


@dataclass(frozen=True, slots=True)
class VerifiedCall:
    """A call of the common path, or the answer, and the number of runs in which the script reproduces the call."""

    number: int
    """Counted from 1; 0 for the answer."""
    tool: str
    reproduced: int


@dataclass(frozen=True, slots=True)
class Verification:
    """The verification of a script with recorded runs."""

    workflow: str
    script: str
    calls: Sequence[VerifiedCall]
    runs: Sequence[VerifiedRun]
    judged: bool
    """Whether a subagent got the judgements of the recorded models."""
    drafted_until: str = ""
    """The time of the newest run that the script was drafted from; empty if its file does not name it."""

    @property
    def new(self) -> Sequence[VerifiedRun]:
        """The runs that the script was not drafted from, if its file says which these are."""
        return [run for run in self.runs if run.is_new]

    @property
    def reproduced(self) -> int:
        """The number of reproduced runs."""
        return sum(run.difference is None for run in self.runs)

    @property
    def is_complete(self) -> bool:
        """Whether the script reproduces every run."""
        return self.reproduced == len(self.runs)


def verify(
    workflow: str,
    script: str,
    runs: Sequence[ObservedRun],
    trials: Mapping[str, Trial],
    *,
    with_answer: bool,
    judged: bool,
    source: str = "",
) -> Verification:
    """Return how the trials of a script, by run, compare with the recorded runs. `source` is the text of the script."""
    named = _DRAFTED.search(source)
    until = ""
    if named is not None:
        until = named[1]
    path = common_path(runs)
    differences = {run.run: first_difference(run, trials[run.run], with_answer=with_answer) for run in runs}
    calls = [
        VerifiedCall(number + 1, step.tool, _reproduced(path, number, trials)) for number, step in enumerate(path.steps)
    ]
    if with_answer:
        same = sum(run.answer == trials[run.run].answer for run in runs)
        calls.append(VerifiedCall(0, ANSWER, same))
    verified = [
        VerifiedRun(
            run.run,
            differences[run.run],
            _traits(run, runs, differences),
            is_new=bool(until) and timestamp(run.at) > until,
        )
        for run in runs
    ]
    return Verification(workflow, script, calls, verified, judged, until)


def first_difference(run: ObservedRun, trial: Trial, *, with_answer: bool) -> FirstDifference | None:
    """Return the first call in which a trial differs from its run; None for a reproduced run.

    Neighbouring reads of one turn of the recorded run may come in any order.
    """
    produced = list(trial.calls)
    number = 0
    for group in unordered_groups(run.calls):
        left = list(group)
        while left:
            number += 1
            if not produced:
                words = f"the recorded run called {left[0].tool}, and the script ended{_because(trial.stopped)}"
                return FirstDifference(number, words, _shown(left[0]))
            made = produced.pop(0)
            same = next((call for call in left if call.signature == made.signature), None)
            if same is None:
                return _difference(number, left, made)
            left.remove(same)
    if produced:
        words = f"the script called {produced[0].tool}, and the recorded run made no further call"
        return FirstDifference(number + 1, words, produced=_shown(produced[0]))
    if trial.stopped:
        return FirstDifference(0, f"the script made all calls, and then ended{_because(trial.stopped)}")
    if with_answer and run.answer != trial.answer:
        return FirstDifference(0, "the answer differs", _cut(run.answer), _cut(trial.answer))
    return None


def _because(stopped: str) -> str:
    if not stopped:
        return ""
    return f": {stopped.rstrip('.')}"


def _difference(number: int, recorded: Sequence[ObservedCall], made: ObservedCall) -> FirstDifference:
    alike = [call for call in recorded if call.tool == made.tool]
    if not alike:
        words = f"the recorded run called {recorded[0].tool}, and the script {made.tool}"
        return FirstDifference(number, words, _shown(recorded[0]), _shown(made))
    closest = min(alike, key=lambda call: len(_other(call, made)))
    name = _other(closest, made)[0]
    words = f"argument {name} of {made.tool}"
    return FirstDifference(number, words, _argument(closest, name), _argument(made, name))


def _other(recorded: ObservedCall, made: ObservedCall) -> Sequence[str]:
    """Return the names of the arguments that differ."""
    names = list(dict.fromkeys([*recorded.arguments, *made.arguments]))
    return [name for name in names if recorded.arguments.get(name) != made.arguments.get(name)]


def _argument(call: ObservedCall, name: str) -> str:
    if name not in call.arguments:
        return "left out"
    return _cut(encode_text(call.arguments[name]))


def _shown(call: ObservedCall) -> str:
    return _cut(f"{call.tool} {encode_text(call.arguments)}")


def _cut(text: str) -> str:
    if len(text) <= _QUOTED:
        return text
    return f"{text[:_QUOTED]}…"


def _reproduced(path: CallPath, number: int, trials: Mapping[str, Trial]) -> int:
    """Return the number of runs in which the script made the calls of a step with the same arguments."""
    found = 0
    for followed in path.having(number):
        made = Counter(call.signature for call in trials[followed.run.run].calls)
        wanted = Counter(call.signature for call in followed.steps[number])
        found += wanted <= made
    return found


def _traits(
    run: ObservedRun, runs: Sequence[ObservedRun], differences: Mapping[str, FirstDifference | None]
) -> Sequence[str]:
    """Return in which values the event of a run differs from those of all reproduced runs, which have one value."""
    if differences[run.run] is None:
        return ()
    others = [event_values(other.event) for other in runs if differences[other.run] is None]
    if not others:
        return ()
    own = event_values(run.event)
    found: list[str] = []
    for reference in sorted({*own, *others[0]}, key=lambda reference: reference.rank):
        usual = {_key(other.get(reference)) for other in others}
        if len(usual) == 1 and _key(own.get(reference)) not in usual and _is_plain(reference):
            always = _words(others[0].get(reference))
            found.append(f"`{reference.words}` is {_words(own.get(reference))}, and always {always} in reproduced runs")
    return found[:MOST_TRAITS]


def _is_plain(reference: Reference) -> bool:
    return reference.source != "text" and not reference.pattern


def _key(value: object) -> bytes:
    return encode(value)


def _words(value: object) -> str:
    if value is None:
        return "missing"
    return _cut(encode_text(value))
