"""The sketch of a workflow for a candidate: a YAML file and a prompt to begin with, which pass `gofer check`."""

from collections.abc import Iterator, Sequence

from gofer.learning.candidates.candidates import Candidate
from gofer.sources.triggers import TRIGGER_KINDS
from gofer.values.canonical_json import encode_text

_SURE = 0.9
"""The share of requests from which on a word needs no remark."""
_LONGEST_DESCRIPTION = 120


def workflow_file(candidate: Candidate, owner: str, known: Sequence[str]) -> str:
    """Return the text of `agents/NAME.yaml`. `known` has the names of the tools that exist."""
    return "\n".join(_lines(candidate, owner, known)) + "\n"


def _lines(candidate: Candidate, owner: str, known: Sequence[str]) -> Iterator[str]:
    yield f"description: {encode_text(f'Answer requests such as: {candidate.request[:_LONGEST_DESCRIPTION]}')}"
    yield f"owner: {encode_text(owner)}"
    yield "when:"
    yield f"  - {_trigger(candidate)}"
    if tools := [share.name for share in candidate.tools if share.name in known]:
        yield f"tools: [{', '.join(tools)}]"
    if skills := [share.name for share in candidate.skills]:
        yield f"skills: {{allowed: [{', '.join(skills)}]}}"


def _trigger(candidate: Candidate) -> str:
    """Return a trigger that asks for the word of the requests, if the source has one; otherwise their own kind."""
    source, _, _ = candidate.kind.partition(".")
    own = [kind for kind in TRIGGER_KINDS if kind.name.startswith(f"{source}.")]
    with_words = [kind for kind in own if "says" in kind.form.model_fields]
    if not with_words or not candidate.word.name:
        return f"{candidate.kind}  # add a condition: without one, each such event starts the workflow"
    kind = next((kind for kind in with_words if kind.name == candidate.kind), with_words[0])
    fields = kind.form.model_fields
    conditions = ["channels: any"] if "channels" in fields and fields["channels"].is_required() else []
    conditions += ["mention: true"] if "mention" in fields else []
    conditions.append(f"says: {encode_text(f'*{candidate.word.name}*')}")
    return f"{kind.name}: {{{', '.join(conditions)}}}{_remark(candidate)}"


def _remark(candidate: Candidate) -> str:
    if candidate.word.share >= _SURE:
        return ""
    return f"  # {candidate.word.share:.0%} of the requests have this word"


def prompt_file(candidate: Candidate) -> str:
    """Return the text of `agents/NAME.md`."""
    lines = [
        f"People ask for the same thing in different words, such as: “{candidate.request}”",
        "",
        "Say first what a good answer contains. Then write the steps:",
        "",
    ]
    lines += [f"{number}. Call `{share.name}`." for number, share in enumerate(candidate.tools, 1)]
    lines.append(f"{len(candidate.tools) + 1}. Answer with what you found, and with links to it.")
    return "\n".join(lines) + "\n"
