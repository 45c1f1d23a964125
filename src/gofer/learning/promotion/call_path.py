"""The path that runs have in common: the same calls in the same order, and how other runs deviate from it.

Calls of one turn that only read have no order. Several calls of one tool in a row are one step, a loop, if each run
makes one call for each item of a list that it read before, and the lists differ in length.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from gofer.learning.promotion.observed_run import ObservedCall, ObservedRun
from gofer.learning.promotion.origins import LEAST_SHARE
from gofer.learning.promotion.references import Path, Reference, Values, event_values, read_values, result_values
from gofer.values.canonical_json import as_list, as_object, encode_text

_SHORTEST_MASKED = 3
"""The fewest characters of a value of the event that is masked in arguments."""


@dataclass(frozen=True, slots=True)
class Loop:
    """The list of a step with one call for each item."""

    items: Reference
    argument: str
    """The argument that has the item, or a value inside of it."""
    path: Path
    """The path of that value in an item; empty for the item itself."""


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the common path."""

    tool: str
    reads: bool
    loop: Loop | None = None


@dataclass(frozen=True, slots=True)
class FollowedRun:
    """A run beside the common path."""

    run: ObservedRun
    steps: Mapping[int, Sequence[ObservedCall]]
    """The calls of each step that the run has, by the number of the step from 0."""
    deviation: str
    """How the run deviates from the path, in words; empty for a run that follows it."""

    @property
    def follows(self) -> bool:
        """Whether the run takes the path from its begin to its end."""
        return not self.deviation


@dataclass(frozen=True, slots=True)
class CallPath:
    """The common path of some runs."""

    steps: Sequence[Step]
    runs: Sequence[FollowedRun]

    @property
    def following(self) -> Sequence[FollowedRun]:
        """The runs that take the path from its begin to its end."""
        return [run for run in self.runs if run.follows]

    @property
    def deviations(self) -> Sequence[tuple[str, Sequence[str]]]:
        """Each way to deviate with the ids of its runs, the most common first."""
        found: dict[str, list[str]] = {}
        for followed in self.runs:
            if followed.deviation:
                found.setdefault(followed.deviation, []).append(followed.run.run)
        return sorted(found.items(), key=lambda one: (-len(one[1]), one[0]))

    def having(self, step: int) -> Sequence[FollowedRun]:
        """Return the runs that have a step."""
        return [run for run in self.runs if step in run.steps]


Unit = tuple[ObservedCall, ...]
"""One call, or the calls of a loop."""


def common_path(runs: Sequence[ObservedRun]) -> CallPath:
    """Return the path that most of the runs take, and each run beside it."""
    ordered = {run.run: in_order(run) for run in runs}
    loops = _loops(runs, ordered)
    units = {run.run: _units(ordered[run.run], loops) for run in runs}
    tools = {run: tuple(unit[0].tool for unit in parts) for run, parts in units.items()}
    majority = _most_common(list(tools.values()))
    first = next(run for run in runs if tools[run.run] == majority)
    model = units[first.run]
    steps = [Step(unit[0].tool, unit[0].reads, loops.get(unit[0].tool)) for unit in model]
    masks = {run.run: _mask_of(run) for run in runs}
    wanted = [masks[first.run](unit[0]) for unit in model]
    return CallPath(steps, [_follow(run, units[run.run], steps, wanted, masks[run.run]) for run in runs])


def in_order(run: ObservedRun) -> Sequence[ObservedCall]:
    """Return the calls of a run, with neighbouring reads of one turn sorted by what they ask for."""
    mask = _mask_of(run)
    ordered: list[ObservedCall] = []
    for group in unordered_groups(run.calls):
        ordered += sorted(group, key=lambda call: (call.tool, encode_text(mask(call))))
    return ordered


def unordered_groups(calls: Sequence[ObservedCall]) -> Sequence[Sequence[ObservedCall]]:
    """Return the calls in groups: neighbouring reads of one turn of a model, or else one call."""
    numbered = enumerate(calls)
    groups = groupby(numbered, key=lambda one: (one[1].turn, -1 if one[1].reads and one[1].turn else one[0]))
    return [[call for _, call in group] for _, group in groups]


def _most_common(signatures: Sequence[tuple[str, ...]]) -> tuple[str, ...]:
    counted = Counter(signatures)
    return min(counted, key=lambda signature: (-counted[signature], signature))


def _blocks(calls: Sequence[ObservedCall]) -> Sequence[Unit]:
    return [tuple(block) for _, block in groupby(calls, key=lambda call: call.tool)]


def _units(calls: Sequence[ObservedCall], loops: Mapping[str, Loop]) -> Sequence[Unit]:
    units: list[Unit] = []
    for block in _blocks(calls):
        if block[0].tool in loops:
            units.append(block)
        else:
            units += [(call,) for call in block]
    return units


def _loops(runs: Sequence[ObservedRun], ordered: Mapping[str, Sequence[ObservedCall]]) -> Mapping[str, Loop]:
    """Return the loops of the path by tool. A tool that the path has in two places is no loop."""
    blocks = {run.run: _blocks(ordered[run.run]) for run in runs}
    tools = {name: tuple(block[0].tool for block in parts) for name, parts in blocks.items()}
    majority = _most_common(list(tools.values()))
    alike = [run for run in runs if tools[run.run] == majority]
    found: dict[str, Loop] = {}
    for position, tool in enumerate(majority):
        sizes = {len(blocks[run.run][position]) for run in alike}
        if len(sizes) > 1 and majority.count(tool) == 1:
            loop = _loop_at(position, alike, blocks, found)
            if loop is not None:
                found[tool] = loop
    return found


def _loop_at(
    position: int,
    runs: Sequence[ObservedRun],
    blocks: Mapping[str, Sequence[Unit]],
    loops: Mapping[str, Loop],
) -> Loop | None:
    """Return the list that nearly all runs go through at this block of calls."""
    counted: Counter[Loop] = Counter()
    for run in runs:
        before = [call for block in blocks[run.run][:position] for call in block]
        values = dict(event_values(run.event))
        for step, unit in enumerate(_units(before, loops)):
            if len(unit) == 1:
                values |= result_values(step, unit[0])
        counted.update(_candidates(blocks[run.run][position], values))
    if not counted:
        return None
    best = min(counted, key=lambda loop: (-counted[loop], loop.items.rank, loop.argument, repr(loop.path)))
    if counted[best] < LEAST_SHARE * len(runs):
        return None
    return best


def _candidates(calls: Unit, values: Values) -> set[Loop]:
    found: set[Loop] = set()
    for reference, held in values.items():
        items = as_list(held)
        if not items or len(items) != len(calls):
            continue
        for argument, value in calls[0].arguments.items():
            for path, inner in _inner(items[0]).items():
                if inner == value and _goes_through(calls, argument, items, path):
                    found.add(Loop(reference, argument, path))
    return found


def _goes_through(calls: Unit, argument: str, items: Sequence[object], path: Path) -> bool:
    return all(call.arguments.get(argument) == _inner(item).get(path) for call, item in zip(calls, items, strict=True))


def _inner(item: object) -> Mapping[Path, object]:
    return {reference.path: value for reference, value in read_values("item", item).items()}


def _mask_of(run: ObservedRun) -> Callable[[ObservedCall], Mapping[str, object]]:
    """Return a function that replaces values of the event in the arguments of a call, so that runs can be compared."""
    masked: dict[str, str] = {}
    for reference, value in event_values(run.event).items():
        if isinstance(value, str) and len(value) >= _SHORTEST_MASKED and reference.source != "text":
            masked.setdefault(value, f"<{reference.words}>")
    ordered = sorted(masked.items(), key=lambda one: (-len(one[0]), one[0]))

    def mask(call: ObservedCall) -> Mapping[str, object]:
        return {name: _masked(value, ordered) for name, value in call.arguments.items()}

    return mask


def _masked(value: object, masked: Sequence[tuple[str, str]]) -> object:
    if not isinstance(value, str):
        return value
    for text, name in masked:
        value = value.replace(text, name)
    return value


def _follow(
    run: ObservedRun,
    units: Sequence[Unit],
    steps: Sequence[Step],
    wanted: Sequence[Mapping[str, object]],
    mask: Callable[[ObservedCall], Mapping[str, object]],
) -> FollowedRun:
    """Return a run beside the path: the assignment of its calls to steps, in order, that fits best."""
    said = [mask(unit[0]) for unit in units]
    fits = [
        [_likeness(steps[row].tool, wanted[row], units[column][0].tool, said[column]) for column in range(len(units))]
        for row in range(len(steps))
    ]
    pairs = _best_pairs(fits, len(steps), len(units))
    deviation = _deviation(steps, units, pairs)
    return FollowedRun(run, {step: units[unit] for step, unit in pairs.items()}, deviation)


def _likeness(tool: str, wanted: Mapping[str, object], other: str, said: Mapping[str, object]) -> float:
    if tool != other:
        return 0.0
    names = wanted.keys() | said.keys()
    equal = sum(as_object(wanted).get(name) == said.get(name) for name in names)
    return 1.0 + equal / max(1, len(names))


def _best_pairs(fits: Sequence[Sequence[float]], rows: int, columns: int) -> Mapping[int, int]:
    """Return the units of the steps, by step, with the greatest likeness together; both keep their order."""
    best = [[0.0] * (columns + 1) for _ in range(rows + 1)]
    for row in reversed(range(rows)):
        for column in reversed(range(columns)):
            skipped = max(best[row + 1][column], best[row][column + 1])
            paired = 0.0
            if fits[row][column]:
                paired = fits[row][column] + best[row + 1][column + 1]
            best[row][column] = max(skipped, paired)
    pairs: dict[int, int] = {}
    row = 0
    column = 0
    while row < rows and column < columns:
        fit = fits[row][column]
        if fit and best[row][column] == fit + best[row + 1][column + 1]:
            pairs[row] = column
            row += 1
            column += 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs


def _deviation(steps: Sequence[Step], units: Sequence[Unit], pairs: Mapping[int, int]) -> str:
    """Return in words which steps a run lacks and which calls it makes in addition; empty if there are none."""
    lacking = [f"without call {step + 1} {steps[step].tool}" for step in range(len(steps)) if step not in pairs]
    taken = {unit: step for step, unit in pairs.items()}
    more: Counter[str] = Counter()
    last = 0
    for number, unit in enumerate(units):
        if number in taken:
            last = taken[number] + 1
        else:
            where = f"after call {last}" if last else "at the begin"
            more[f"{unit[0].tool} {where}"] += 1
    added = [f"with {counted(number)}{words}" for words, number in more.items()]
    return ", ".join([*lacking, *added])


def counted(number: int) -> str:
    """Return `3 times ` before a repeated part; empty for one."""
    if number == 1:
        return ""
    return f"{number} times "
