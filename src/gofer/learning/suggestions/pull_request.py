"""The text of the pull request of a proven suggestion, in Markdown, and the message of its commit.

Words of people and models are quoted as code, or are plain in a title and in the message, with pseudonyms. So no text
of them is markup, an address, a mention or a trailer.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import assert_never

from gofer.evals.reports.markdown_text import block, cell, code, fence, plain
from gofer.learning.suggestions.proof import Proof, suite_sentence
from gofer.learning.suggestions.proposal import MustHold, Proposal
from gofer.learning.suggestions.replayed_pair import OneReplay, ReplayedPair
from gofer.learning.suggestions.suggestion import Suggestion
from gofer.values.amounts import money
from gofer.values.canonical_json import encode_text

Redact = Callable[[str], str]
"""Returns a text with pseudonyms."""
MOST_SIGNS = 6
"""The most signs of one group that the text quotes."""
MOST_WORDS = 200
"""The most characters of the words of one sign."""
MOST_REASON = 1_000
"""The most characters of the reason."""
_ID = 8
SCRIPTED = (
    "The answers came from a script in place of a model. They show that the steps work, and prove nothing about a "
    "model."
)


def pull_request(made: Suggestion, redact: Redact, run_url: Callable[[str], str], advice: Sequence[str]) -> str:
    """Return the text of the pull request of a suggestion with a proof.

    `run_url` returns the address of the page of a run, or an empty text; `advice` are lines of Markdown about the edit.
    """
    return "\n".join([*_lines(made, _Shown(redact, run_url), advice), ""])


@dataclass(frozen=True, slots=True)
class _Shown:
    """How texts and runs are shown."""

    redact: Redact
    run_url: Callable[[str], str]

    def text(self, text: str, most: int = MOST_WORDS) -> str:
        """Return a text with pseudonyms as code."""
        return code(self.redact(text), most)

    def run(self, run: str) -> str:
        """Return the short id of a run, with a link to its page if it has one."""
        short = code(run[:_ID])
        url = self.run_url(run)
        if not url:
            return short
        return f"[{short}]({url})"


def commit_message(made: Suggestion, redact: Redact) -> str:
    """Return the message of the commit."""
    if made.proposal is None:
        return ""
    title = plain(redact(made.proposal.title))
    reason = plain(redact(made.proposal.reason), MOST_REASON)
    return f"{title}\n\n{reason}\n\nProposed by `gofer suggest {made.evidence.workflow}`.\n"


def _lines(made: Suggestion, shown: _Shown, advice: Sequence[str]) -> Iterator[str]:
    proposal = made.proposal
    proof = made.proof
    if proposal is None or proof is None:
        return
    # The line is also the title of the pull request.
    yield f"# {plain(shown.redact(proposal.title))}"
    yield ""
    yield shown.text(proposal.reason, MOST_REASON)
    yield ""
    if proof.is_scripted:
        yield f"**{SCRIPTED}**"
        yield ""
    yield from _seen(made, shown)
    yield from _edit(made)
    yield from _case(made, proposal.must, proof, shown)
    yield from _replays(proof, shown)
    yield "## Suite"
    yield ""
    yield suite_sentence(proof)
    yield ""
    if advice:
        yield "## Advice"
        yield ""
        yield from advice
        yield ""
    yield from _how_to_try(made, proposal)


def _seen(made: Suggestion, shown: _Shown) -> Iterator[str]:
    yield "## What was seen"
    yield ""
    yield made.evidence.looked.sentence
    yield ""
    for group in made.evidence.groups:
        yield f"- {shown.text(group.title)}"
        for sign in group.telling[:MOST_SIGNS]:
            words = sign.words or "without words"
            yield f"  - {sign.kind} of run {shown.run(sign.run)}: {shown.text(words)}"
        if len(group.signs) > MOST_SIGNS:
            yield f"  - and {len(group.signs) - MOST_SIGNS} more signs"
    yield ""


def _edit(made: Suggestion) -> Iterator[str]:
    yield "## The edit"
    yield ""
    # The lines of a diff begin with a sign or a space, which stays.
    marks = fence("\n".join(made.diff), 3)
    yield f"{marks}diff"
    yield from made.diff
    yield marks
    yield ""


def _case(made: Suggestion, must: MustHold, proof: Proof, shown: _Shown) -> Iterator[str]:
    yield "## The eval case"
    yield ""
    yield f"{code(made.case)} is run {shown.run(must.run)}, redacted. {shown.text(must_sentence(must), 500)}"
    yield ""
    before = proof.case_without
    after = proof.case_with
    if before is not None and after is not None:
        passed = f"{before.passed} of {len(before.runs)} plays pass"
        yield f"Without the edit, {passed}; with it, {after.passed} of {len(after.runs)}."
        yield ""


def _replays(proof: Proof, shown: _Shown) -> Iterator[str]:
    yield "## Replays without and with the edit"
    yield ""
    yield "| run | | without | with | first difference | cost |"
    yield "|---|---|---|---|---|---|"
    for pair in proof.replays:
        cells = [shown.run(pair.run), *map(cell, map(shown.redact, replay_cells(pair)))]
        yield f"| {' | '.join(cells)} |"
    yield ""


def _how_to_try(made: Suggestion, proposal: Proposal) -> Iterator[str]:
    yield "## Try it"
    yield ""
    lines = [
        f"git switch {proposal.branch(made.evidence.workflow)}",
        f"gofer eval {made.case} --live --repeat 3",
    ]
    if not proposal.edit.file.startswith("skills/"):
        lines.append(f"gofer replay {proposal.must.run[:_ID]} --prompt {proposal.edit.file} --model live")
    yield from block(lines)
    yield ""
    yield f"The proposal and its proof cost {money(made.usd)}. Nothing merges this by itself."


def replay_cells(pair: ReplayedPair) -> Sequence[str]:
    """Return the kind of a replayed run, its path without and with the edit, the first difference, and the cost."""
    kind = "affected"
    if pair.is_good:
        kind = "good"
    costs = (pair.without.usd or 0.0, pair.with_edit.usd or 0.0)
    paths = [_path(replay) for replay in (pair.without, pair.with_edit)]
    return [kind, *paths, pair.difference or "none", f"{costs[0]:.4f} / {costs[1]:.4f} USD"]


def _path(replay: OneReplay) -> str:
    """Return the tools that a replay called, and its end."""
    end = replay.status or "no end"
    if not replay.is_whole:
        end = f"{end}, with results that were not recorded"
    return f"{', '.join(call.tool for call in replay.calls) or 'no call'}: {end}"


def must_sentence(must: MustHold) -> str:
    """Return what must hold, in one sentence."""
    match must.kind:
        case "call":
            arguments = ""
            if must.arguments:
                arguments = f" with {encode_text(must.arguments)}"
            return f"At call {must.at}, the next answer must call {must.tool}{arguments}."
        case "contains":
            return f"The answer must contain {', '.join(map(repr, must.texts))}."
        case "not_contains":
            return f"The answer must not contain {', '.join(map(repr, must.texts))}."
        case "judge":
            return f"The judge must answer yes to: {must.ask}"
    assert_never(must.kind)
