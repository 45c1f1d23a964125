"""The request that asks the judge one criterion."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from gofer.evals.eval_file import Criterion
from gofer.evals.judging.material import Material
from gofer.evals.judging.tolerances import sentences
from gofer.models.served_model import ServedModel
from gofer.values.canonical_json import encode

PROMPT = files("gofer.evals.judging").joinpath("prompt.md").read_text("utf-8")
"""The system prompt of the judge."""
PROMPT_SHA256 = hashlib.sha256(PROMPT.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Question:
    """One criterion about one material."""

    ask: str
    tolerances: Sequence[str]
    material: Material


def question_of(criterion: Criterion, material: Material) -> Question:
    """Return the question of a criterion about a material."""
    return Question(criterion.ask, sentences(criterion.tolerance), material)


def criterion_sha256(criterion: Criterion) -> str:
    """Return the hash of all parts of a criterion that decide how it is asked and counted."""
    parts = [criterion.ask, *sentences(criterion.tolerance), criterion.votes, criterion.least_score]
    return hashlib.sha256(encode(parts)).hexdigest()


def request(served: ServedModel, question: Question, vote: int, problem: str = "") -> bytes:
    """Return the bytes of a request.

    The material is inside one JSON object, so that no text of it can end it. The number of the vote makes the requests
    of several votes different, so that each has an answer of its own. `problem` says why the last answer could not be
    read.
    """
    asked: dict[str, object] = {
        "criterion": question.ask,
        "tolerances": question.tolerances,
        "material": question.material,
        "vote": vote,
    }
    if problem:
        asked["problem"] = problem
    messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": encode(asked).decode()}]
    return encode({**served.parameters, "model": served.name, "stream": False, "messages": messages})
