"""The judge's answer: a verdict with its evidence."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from gofer.evals.judging.material import Material, texts
from gofer.values.canonical_json import as_object, decode
from gofer.values.errors import BadRequest

Decision = Literal["CORRECT", "INCORRECT"]
LONGEST = 600
"""The most characters of a quote or a reason that a grade keeps."""
_FENCE = re.compile(r"\A\s*```(?:json)?\s*\n(.*?)\n\s*```\s*\Z", re.DOTALL)
_ADDRESS = re.compile(
    r"\b(?:IN)?CORRECT\b|[\"'`]verdict[\"'`]|"
    r"\b(?i:answer|say|reply|respond|output|return)(?i:\s+with)?\W+(?i:(?:in)?correct)\b"
)
"""The words of an instruction to the judge. The word `correct` alone is ordinary."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """One readable answer of the judge."""

    decision: Decision
    quote: str
    """The words of the material that decide; empty if the evidence is that something is absent."""
    reason: str


class Unreadable(Exception):
    """An answer that does not have its form. The message says why, for the model and for people."""


def verdict_of(text: str, material: Material) -> Verdict:
    """Return the verdict that an answer holds. Raises Unreadable.

    An invented quote is no evidence, and so is a quote of a text that asks for a verdict.
    """
    answer = object_in(text)
    decision = answer.get("verdict")
    quote = answer.get("quote")
    reason = answer.get("reason")
    if decision not in ("CORRECT", "INCORRECT") or not isinstance(quote, str) or not isinstance(reason, str):
        raise Unreadable("The answer needs `verdict` (CORRECT or INCORRECT), `quote` and `reason`, as texts.")
    _check_quote(quote, decision, material)
    return Verdict(decision, quote.strip()[:LONGEST], reason.strip()[:LONGEST])


def object_in(text: str) -> Mapping[str, object]:
    """Return the one JSON object that an answer is, with or without a fence around it. Raises Unreadable."""
    fenced = _FENCE.fullmatch(text)
    if fenced:
        text = fenced[1]
    try:
        return as_object(decode(text.encode(errors="replace")))
    except BadRequest as error:
        raise Unreadable("The answer was not one JSON object.") from error


def addresses_the_judge(material: Material) -> bool:
    """Return whether a text of the material holds the words of a verdict, as an instruction to the judge does."""
    return any(_ADDRESS.search(text) for text in texts(material))


def _check_quote(quote: str, decision: Decision, material: Material) -> None:
    wanted = _plain(quote)
    if not wanted:
        return
    if not any(wanted in _plain(text) for text in texts(material)):
        raise Unreadable("The quote is not in the material.")
    if decision == "CORRECT" and _ADDRESS.search(quote):
        raise Unreadable("The quote asks for a verdict, and so is no evidence.")


def _plain(text: str) -> str:
    """Return the text for comparison: quotation marks of one kind, single spaces, without regard to case."""
    same = text.replace("“", '"').replace("”", '"').replace("’", "'")
    return " ".join(same.split()).casefold().strip(" .…")
