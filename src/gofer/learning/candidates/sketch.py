"""The sketch of a workflow for a candidate: a YAML file and a prompt to begin with, which pass `gofer check`."""

from collections.abc import Iterator, Sequence

from gofer.learning.candidates.candidates import Candidate
from gofer.sources.triggers import TRIGGER_KINDS
from gofer.values.canonical_json import encode_text

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
    """Return a trigger with the word of the requests, if the source has such a condition; otherwise their own kind.

    It names a place, because a workflow of one place wins over the general one that answered so far.
    """
    source, _, _ = candidate.kind.partition(".")
    own = [kind for kind in TRIGGER_KINDS if kind.name.startswith(f"{source}.")]
    with_words = [kind for kind in own if "says" in kind.form.model_fields]
    if not with_words or not candidate.word.name:
        return candidate.kind
    kind = next((kind for kind in with_words if kind.name == candidate.kind), with_words[0])
    conditions = [kind.place] if kind.place else []
    conditions += ["mention: true"] if "mention" in kind.form.model_fields else []
    conditions.append(f"says: {encode_text(f'*{candidate.word.name}*')}")
    remark = f"{candidate.word.share:.0%} of the requests have this word; name the place of your team"
    return f"{kind.name}: {{{', '.join(conditions)}}}  # {remark}"


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
