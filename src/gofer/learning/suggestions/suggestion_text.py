"""A suggestion as lines for a terminal, and as JSON."""

from collections.abc import Iterator, Mapping

from gofer.evals.results import CaseResult
from gofer.learning.suggestions.proof import Proof, suite_sentence
from gofer.learning.suggestions.pull_request import SCRIPTED, must_sentence, replay_cells
from gofer.learning.suggestions.replayed_pair import ReplayedPair
from gofer.learning.suggestions.suggestion import Outcome, Suggestion
from gofer.values.amounts import counted, money

MOST_SIGNS = 3
"""The most signs of one group that are listed."""
MOST_WORDS = 120
_ID = 8
_HEADLINES: Mapping[Outcome, str] = {
    "no_suggestion": "No suggestion",
    "exists": "Suggested before",
    "proven": "Suggestion, proven",
    "not_proven": "Suggestion, not proven",
    "not_asked": "No suggestion yet",
    "infrastructure": "Not proven now",
    "over_budget": "Not proven: the limit is reached",
    "refused": "No suggestion",
}


def suggestion_lines(made: Suggestion) -> Iterator[str]:
    """Yield the outcome, what was looked at, the proposal, and its proof."""
    headline = _HEADLINES[made.outcome]
    if made.reason:
        yield f"{headline}: {made.reason}"
    else:
        yield f"{headline}."
    yield made.evidence.looked.sentence
    if made.evidence.looked.reviews_do_not_count:
        yield f"Reviews alone are no evidence. {made.evidence.looked.reviews_do_not_count}"
    yield from _groups(made)
    yield from _proposal(made)
    if made.proof is not None:
        yield from _proof(made.proof)
    if made.commit:
        yield ""
        yield f"Branch {made.branch}, commit {made.commit[:12]}; nothing was pushed."
    if made.usd:
        yield f"Cost: {money(made.usd)}."


def _groups(made: Suggestion) -> Iterator[str]:
    for group in made.evidence.groups:
        yield ""
        yield _cut(group.title)
        for sign in group.telling[:MOST_SIGNS]:
            yield f"    {sign.run[:_ID]} {sign.step:<6} {sign.kind}: {_cut(sign.words) or 'without words'}"
        if len(group.signs) > MOST_SIGNS:
            yield f"    and {counted(len(group.signs) - MOST_SIGNS, 'more sign')}"


def _proposal(made: Suggestion) -> Iterator[str]:
    proposal = made.proposal
    if proposal is None:
        return
    yield ""
    yield proposal.title
    yield f"    {proposal.reason}"
    yield ""
    yield from made.diff
    yield ""
    yield f"Eval case {made.case}, from run {proposal.must.run[:_ID]}: {must_sentence(proposal.must)}"


def _proof(proof: Proof) -> Iterator[str]:
    yield ""
    if proof.is_scripted:
        yield SCRIPTED
    yield f"eval case  without the edit {_passed(proof.case_without)}, with it {_passed(proof.case_with)}"
    if proof.replays:
        yield f"replays    {counted(len(proof.affected), 'affected run')}, {counted(len(proof.good), 'good run')}"
    for pair in proof.replays:
        kind, _, _, difference, cost = replay_cells(pair)
        yield f"    {pair.run[:_ID]} {kind:<8}  first difference: {difference}  {cost}"
    if proof.suite_with is not None:
        yield f"suite      {suite_sentence(proof)}"


def _passed(case: CaseResult | None) -> str:
    if case is None:
        return "not played"
    return f"{case.passed} of {counted(len(case.runs), 'play')} passed"


def _cut(text: str) -> str:
    if len(text) <= MOST_WORDS:
        return text
    return f"{text[:MOST_WORDS]}…"


def suggestion_json(made: Suggestion) -> Mapping[str, object]:
    """Return a suggestion as JSON."""
    proposal = made.proposal
    shown: Mapping[str, object] | None = None
    if proposal is not None:
        edit = proposal.edit
        shown = {
            "title": proposal.title,
            "reason": proposal.reason,
            "edit": {"file": edit.file, "old": edit.old, "new": edit.new},
            "case": made.case,
            "run": proposal.must.run,
            "must": must_sentence(proposal.must),
        }
    return {
        "workflow": made.evidence.workflow,
        "outcome": made.outcome,
        "reason": made.reason,
        "looked_at": made.evidence.looked.sentence,
        "groups": [
            {"kind": group.kind, "about": group.about, "runs": list(group.runs)} for group in made.evidence.groups
        ],
        "proposal": shown,
        "proof": _proof_json(made.proof),
        "branch": made.branch,
        "commit": made.commit,
        "usd": made.usd,
        "pull_request": made.pull_request,
    }


def _proof_json(proof: Proof | None) -> Mapping[str, object] | None:
    if proof is None:
        return None
    return {
        "scripted": proof.is_scripted,
        "case_without": _case_json(proof.case_without),
        "case_with": _case_json(proof.case_with),
        "replays": [_replay_json(pair) for pair in proof.replays],
        "suite": suite_sentence(proof),
    }


def _case_json(case: CaseResult | None) -> Mapping[str, object] | None:
    if case is None:
        return None
    return {"outcome": case.outcome, "passed": case.passed, "plays": len(case.runs)}


def _replay_json(pair: ReplayedPair) -> Mapping[str, object]:
    return {
        "run": pair.run,
        "good": pair.is_good,
        "without": pair.without.outcome,
        "with": pair.with_edit.outcome,
        "difference": pair.difference,
        "worse": pair.worse,
        "usd": [pair.without.usd, pair.with_edit.usd],
    }
