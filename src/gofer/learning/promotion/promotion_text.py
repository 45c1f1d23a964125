"""What `gofer promote` prints: the common path with its origins, or the verification of a script."""

from collections.abc import Iterator, Mapping, Sequence

from gofer.learning.promotion.origins import FoundOrigin, Judged, origin_words
from gofer.learning.promotion.promotion import PromotedStep, Promotion
from gofer.learning.promotion.verification import Verification, VerifiedCall, VerifiedRun
from gofer.values.amounts import counted

MOST_DEVIATIONS = 10
"""The most ways to deviate from the path that are listed."""
MOST_DIFFERENCES = 20
"""The most runs without reproduction that are explained."""
_ID = 8


def promotion_lines(promotion: Promotion) -> Iterator[str]:
    """Yield the path, its steps with the origins of their arguments, and the deviations."""
    runs = len(promotion.path.runs)
    yield f"{promotion.workflow}: {counted(runs, 'recorded run')}{_kept_back(promotion)}."
    if promotion.left_out:
        yield f"Not used: {counted(promotion.left_out, 'run')} that had bad feedback or were too large."
    yield f"{len(promotion.path.following)} of {runs} take the common path:"
    for number, promoted in enumerate(promotion.steps, 1):
        yield ""
        yield f"call {number}  {promoted.step.tool}{_loop(promoted)}  in {promoted.runs} of {runs}"
        yield from _arguments(promoted.arguments)
    yield ""
    yield f"answer  {_origin(promotion.answer)}"
    yield from _deviations(promotion)


def _kept_back(promotion: Promotion) -> str:
    if not promotion.kept_back:
        return ""
    return f"; {counted(promotion.kept_back, 'newer run')} kept for the verification"


def _loop(promoted: PromotedStep) -> str:
    if promoted.step.loop is None:
        return ""
    return f" for each of {promoted.step.loop.items.words}"


def _arguments(arguments: Mapping[str, FoundOrigin]) -> Iterator[str]:
    width = max(map(len, arguments), default=0)
    for name, found in arguments.items():
        yield f"    {name:<{width}}  {_origin(found)}"


def _origin(found: FoundOrigin) -> str:
    words = origin_words(found.origin).replace("\n", "\\n")
    if found.unvaried:
        words = f"{words}; no run has another {found.unvaried}, so whether it is constant is not known"
    if found.holds == found.of or isinstance(found.origin, Judged):
        return words
    return f"{words}, in {found.holds} of {found.of}"


def _deviations(promotion: Promotion) -> Iterator[str]:
    deviations = promotion.path.deviations
    if not deviations:
        return
    yield ""
    yield "Other paths:"
    for words, runs in deviations[:MOST_DEVIATIONS]:
        yield f"    {counted(len(runs), 'run')} {words}, such as {runs[0][:_ID]}"
    if len(deviations) > MOST_DEVIATIONS:
        yield f"    and {len(deviations) - MOST_DEVIATIONS} more ways"


def promotion_json(promotion: Promotion) -> Mapping[str, object]:
    """Return a promotion as JSON."""
    return {
        "workflow": promotion.workflow,
        "runs": len(promotion.path.runs),
        "following": len(promotion.path.following),
        "left_out": promotion.left_out,
        "kept_back": promotion.kept_back,
        "too_little": promotion.too_little,
        "steps": [_step_json(step) for step in promotion.steps],
        "answer": _origin_json(promotion.answer),
        "deviations": [{"deviation": words, "runs": list(runs)} for words, runs in promotion.path.deviations],
    }


def _step_json(promoted: PromotedStep) -> Mapping[str, object]:
    return {
        "tool": promoted.step.tool,
        "loop": _loop(promoted).strip(),
        "runs": promoted.runs,
        "arguments": {name: _origin_json(found) for name, found in promoted.arguments.items()},
    }


def _origin_json(found: FoundOrigin) -> Mapping[str, object]:
    kind = type(found.origin).__name__.lower()
    return {
        "kind": kind,
        "origin": origin_words(found.origin),
        "holds": found.holds,
        "of": found.of,
        "unvaried": found.unvaried,
    }


def verification_lines(verification: Verification) -> Iterator[str]:
    """Yield the reproduced runs of each call and in total, and the first difference of each other run."""
    runs = len(verification.runs)
    yield f"{verification.script} on {counted(runs, 'recorded run')} of {verification.workflow}."
    if verification.judged:
        yield "With the recorded judgement: the subagent answers what the recorded model decided."
    yield ""
    width = max((len(call.tool) for call in verification.calls), default=0)
    for call in verification.calls:
        yield f"{_call(call)}  {call.tool:<{width}}  {call.reproduced} of {runs}"
    yield f"{'total':<7}  {'':<{width}}  {verification.reproduced} of {runs}"
    if verification.drafted_until:
        new = verification.new
        words = f"{_reproduced(new)} of {len(new)}, the runs after {verification.drafted_until}"
        yield f"{'new':<7}  {'':<{width}}  {words}"
        if not new:
            yield "The script was drafted from all of these runs, so they prove nothing. Verify it after more runs."
    others = [run for run in verification.runs if run.difference is not None]
    for run in others[:MOST_DIFFERENCES]:
        yield ""
        yield from _difference(run)
    if len(others) > MOST_DIFFERENCES:
        yield ""
        yield f"{len(others) - MOST_DIFFERENCES} more runs are not reproduced; `--json` lists them."


def _reproduced(runs: Sequence[VerifiedRun]) -> int:
    return sum(run.difference is None for run in runs)


def _call(call: VerifiedCall) -> str:
    if not call.number:
        return f"{'end':<7}"
    return f"{f'call {call.number}':<7}"


def _difference(run: VerifiedRun) -> Sequence[str]:
    difference = run.difference
    if difference is None:
        return ()
    where = "At the end"
    if difference.call:
        where = f"Call {difference.call}"
    lines = [f"{run.run[:_ID]} is not reproduced. {where}: {difference.words}."]
    if difference.recorded:
        lines.append(f"    recorded  {difference.recorded}")
    if difference.produced:
        lines.append(f"    script    {difference.produced}")
    lines += [f"    In its event, {trait}." for trait in run.traits]
    return [*lines, f"    gofer trace {run.run[:_ID]} --full", f"    gofer replay {run.run[:_ID]} --step"]


def verification_json(verification: Verification) -> Mapping[str, object]:
    """Return a verification as JSON."""
    return {
        "workflow": verification.workflow,
        "script": verification.script,
        "with_recorded_judgement": verification.judged,
        "runs": len(verification.runs),
        "reproduced": verification.reproduced,
        "drafted_until": verification.drafted_until,
        "new": {"runs": len(verification.new), "reproduced": _reproduced(verification.new)},
        "calls": [{"call": one.number, "tool": one.tool, "reproduced": one.reproduced} for one in verification.calls],
        "not_reproduced": [_difference_json(run) for run in verification.runs if run.difference is not None],
    }


def _difference_json(run: VerifiedRun) -> Mapping[str, object]:
    difference = run.difference
    if difference is None:
        return {"run": run.run}
    return {
        "run": run.run,
        "call": difference.call,
        "difference": difference.words,
        "recorded": difference.recorded,
        "script": difference.produced,
        "traits": list(run.traits),
    }
