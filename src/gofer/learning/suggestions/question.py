"""The question to the model of the role `suggester`, and the reading of its answer.

The texts of people and tools are inside one JSON object, so that no text can end it. The object has a limit of bytes.
"""

import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gofer.learning.suggestions.evidence import Evidence
from gofer.learning.suggestions.proposal import Edit, MustHold, NoProposal, Proposal
from gofer.models.served_model import ServedModel
from gofer.runtime.reviews.question import material_of
from gofer.runtime.run_record import RunRecord
from gofer.values.canonical_json import encode

RULES = files("gofer.learning.suggestions").joinpath("rules.md").read_text("utf-8")
"""The system prompt of the suggester."""
SECONDS = 180.0
"""How long one answer may take."""
MOST_BYTES = 150_000
"""The most bytes of the question, and so the most tokens, without the rules of the suggester."""
MOST_OF_HOUSE_RULES = 12_000
"""The most characters of the rules of the repository."""
MOST_SIGNS = 8
"""The most signs of one group."""
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)
_LONGEST = 4_000
"""The most characters of a text in an answer."""

_Text = Annotated[str, Field(min_length=1, max_length=_LONGEST)]


class Unreadable(Exception):
    """An answer that is no proposal. The message says why, for the model and for people."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Edit(_Strict):
    file: _Text
    old: _Text
    new: _Text


class _Must(_Strict):
    kind: Literal["call", "contains", "not_contains", "judge"]
    run: _Text
    at: str = Field(default="", max_length=20)
    tool: str = Field(default="", max_length=100)
    arguments: dict[str, object] = Field(default_factory=dict[str, object], max_length=10)
    texts: list[_Text] = Field(default_factory=list[str], max_length=10)
    ask: str = Field(default="", max_length=1_000)


class _Suggested(_Strict):
    suggestion: Literal["edit"]
    title: Annotated[str, Field(min_length=1, max_length=120)]
    reason: _Text
    edit: _Edit
    must: _Must


class _Nothing(_Strict):
    suggestion: Literal["none"]
    reason: _Text


_ANSWER: TypeAdapter[_Suggested | _Nothing] = TypeAdapter(
    Annotated[_Suggested | _Nothing, Field(discriminator="suggestion")]
)


def request(served: ServedModel, material: Mapping[str, object], problem: str = "") -> bytes:
    """Return the bytes of a request. `problem` says why the last answer could not be used."""
    asked = dict(material)
    if problem:
        asked["problem"] = problem
    messages = [{"role": "system", "content": RULES}, {"role": "user", "content": encode(asked).decode()}]
    return encode({**served.parameters, "model": served.name, "stream": False, "messages": messages})


def material(
    evidence: Evidence, records: Mapping[str, RunRecord], texts: Mapping[str, str], house_rules: str
) -> Mapping[str, object]:
    """Return what the model reads: the files by path, the groups, and as many affected runs as the limit allows.

    `records` are the runs that may be read, by run.
    """
    asked: dict[str, object] = {
        "workflow": evidence.workflow,
        "house_rules": house_rules[:MOST_OF_HOUSE_RULES],
        "files": [{"path": path, "text": text} for path, text in texts.items()],
        "groups": [_group(evidence, number) for number in range(len(evidence.groups))],
    }
    runs: list[Mapping[str, object]] = []
    for run in evidence.affected:
        if run not in records:
            continue
        told = _run(records[run])
        if len(encode({**asked, "runs": [*runs, told]})) > MOST_BYTES:
            break
        runs.append(told)
    return {**asked, "runs": runs}


def answer_of(text: str) -> Proposal | NoProposal:
    """Return the proposal in an answer, or that there is none. Raises Unreadable."""
    if fenced := _FENCE.fullmatch(text):
        text = fenced[1]
    try:
        found = _ANSWER.validate_json(text)
    except ValidationError as error:
        raise Unreadable(f"The answer is not one of the two JSON objects: {_first(error)}.") from error
    if isinstance(found, _Nothing):
        return NoProposal(" ".join(found.reason.split()))
    must = found.must
    return Proposal(
        title=" ".join(found.title.split()),
        reason=" ".join(found.reason.split()),
        edit=Edit(file=found.edit.file, old=found.edit.old, new=found.edit.new),
        must=MustHold(
            kind=must.kind,
            run=must.run,
            at=must.at,
            tool=must.tool,
            arguments=must.arguments,
            texts=must.texts,
            ask=must.ask,
        ),
    )


def _first(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in found["loc"])
    return f"{place or 'the text'}: {found['msg']}"


def _group(evidence: Evidence, number: int) -> Mapping[str, object]:
    group = evidence.groups[number]
    signs = [
        {"run": sign.run, "step": sign.step, "kind": sign.kind, "words": sign.words}
        for sign in group.telling[:MOST_SIGNS]
    ]
    return {"kind": group.kind, "about": group.about, "runs": len(group.runs), "signs": signs}


def _run(record: RunRecord) -> Mapping[str, object]:
    # The goal of the run is the prompt, which is among the files.
    told = {name: value for name, value in material_of(record).items() if name != "goal"}
    return {"run": record.run, **told}


def fits(texts: Sequence[str]) -> bool:
    """Return whether the files of a workflow leave room for runs in a question."""
    return sum(len(text.encode()) for text in texts) <= MOST_BYTES // 2
