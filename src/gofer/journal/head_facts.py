"""The facts of an ended run in its head: what statistics and searches need, in at most 2 KB of JSON.

A head is not sealed, and lists read many of them. So the facts are counts, times and names of tools, skills and checks.
People and channels are tokens (`row_tokens.Tokens`), which go when the contents of the run are deleted. A private run
has no facts.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from gofer.values.canonical_json import as_list, as_object, encode_text

MOST_BYTES = 2_000
"""The most bytes of the facts of one run. Rarely used tools, then skills and checks, are left out above that."""
PROMPT_DIGITS = 12
"""The digits of the hash of a prompt in the facts."""
NO_TOOL = ""
"""The name under which calls of tools are counted that do not exist. A model invented their names."""


_COUNTS = (
    "llm_calls",
    "tool_calls",
    "subagents",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "written_tokens",
    "owned_ms",
    "plan_calls",
    "equal_calls",
    "good",
    "bad",
)
_TEXTS = ("person", "channel", "cause", "system", "prompt")


@dataclass(frozen=True, slots=True)
class ToolCount:
    """The calls of one tool in one run."""

    calls: int = 0
    errors: int = 0
    """The calls that failed, were refused, or whose outcome is unknown."""


@dataclass(frozen=True, slots=True)
class HeadFacts:
    """The facts of one ended run. Counts include subagents, except `tools`, which counts the calls of the run itself.

    Times are milliseconds.
    """

    person: str = ""
    """The token of the asker; empty without one, and after the contents were deleted."""
    channel: str = ""
    """The token of the channel; empty without one, and after the contents were deleted."""
    llm_calls: int = 0
    tool_calls: int = 0
    tools: Mapping[str, ToolCount] = field(default_factory=dict[str, ToolCount])
    """The calls by tool, the most used first."""
    skills: tuple[str, ...] = ()
    """The names of the loaded skills, sorted."""
    subagents: int = 0
    """The number of asked subagents."""
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    written_tokens: int = 0
    """The input tokens that providers wrote to their caches."""
    usd: float | None = None
    """The cost in US dollars; None if the price of a call is unknown."""
    owned_ms: int = 0
    """How long workers owned the run."""
    plan_calls: int = 0
    """The calls of the run itself that wrote, changed or read its plan."""
    equal_calls: int = 0
    """The most calls of the run itself of one tool with the same arguments, without those about the plan."""
    sign_ms: int | None = None
    """Time from the event to the first message that people saw; None without one."""
    answer_ms: int | None = None
    """Time from the event to the delivered answer; None without one."""
    checks: tuple[str, ...] = ()
    """The names of failed checks."""
    cause: str = ""
    """The cause of an end without an answer, as in `run.finished`."""
    system: str = ""
    """The display name of the outside system that was the cause."""
    good: int = 0
    bad: int = 0
    """The persons who gave good and bad feedback."""
    effective: bool | None = None
    """The verdict of the review; None without one."""
    prompt: str = ""
    """The first PROMPT_DIGITS digits of the hash of the reviewed workflow's prompt; empty without a review."""
    review_usd: float | None = None
    """The cost of the review in US dollars, which is not in `usd`; None without a review or a known price."""

    @property
    def has_feedback(self) -> bool:
        """Whether a person gave feedback that still counts."""
        return bool(self.good or self.bad)

    @property
    def is_reviewed(self) -> bool:
        """Whether a review gave a verdict."""
        return self.effective is not None


def encode(facts: HeadFacts) -> str:
    """Return facts as canonical JSON of at most MOST_BYTES, without empty fields."""
    text = _text(facts)
    while len(text.encode()) > MOST_BYTES:
        facts = _shortened(facts)
        text = _text(facts)
    return text


def decode(text: str) -> HeadFacts | None:
    """Return the facts in a head; None if there are none, or if this version cannot read them."""
    if not text:
        return None
    try:
        stored = as_object(json.loads(text))
        return HeadFacts(
            person=str(stored.get("person", "")),
            channel=str(stored.get("channel", "")),
            llm_calls=_count(stored.get("llm_calls", 0)),
            tool_calls=_count(stored.get("tool_calls", 0)),
            tools={name: _tool(counts) for name, counts in as_object(stored.get("tools")).items()},
            skills=_names(stored.get("skills")),
            subagents=_count(stored.get("subagents", 0)),
            input_tokens=_count(stored.get("input_tokens", 0)),
            output_tokens=_count(stored.get("output_tokens", 0)),
            cached_tokens=_count(stored.get("cached_tokens", 0)),
            written_tokens=_count(stored.get("written_tokens", 0)),
            usd=_usd(stored.get("usd", 0)),
            owned_ms=_count(stored.get("owned_ms", 0)),
            plan_calls=_count(stored.get("plan_calls", 0)),
            equal_calls=_count(stored.get("equal_calls", 0)),
            sign_ms=_time(stored.get("sign_ms")),
            answer_ms=_time(stored.get("answer_ms")),
            checks=_names(stored.get("checks")),
            cause=str(stored.get("cause", "")),
            system=str(stored.get("system", "")),
            good=_count(stored.get("good", 0)),
            bad=_count(stored.get("bad", 0)),
            effective=_verdict(stored.get("effective")),
            prompt=str(stored.get("prompt", "")),
            review_usd=_usd(stored.get("review_usd")),
        )
    except (ValueError, RecursionError):
        return None


def without_tokens(text: str) -> str:
    """Return the facts in a head without the tokens of the person and the channel."""
    facts = decode(text)
    if facts is None:
        return ""
    return encode(replace(facts, person="", channel=""))


def _text(facts: HeadFacts) -> str:
    stored: dict[str, object] = {name: getattr(facts, name) for name in (*_COUNTS, *_TEXTS)}
    stored["skills"] = list(facts.skills)
    stored["checks"] = list(facts.checks)
    stored["tools"] = {name: [count.calls, count.errors] for name, count in facts.tools.items()}
    filled = {name: value for name, value in stored.items() if value}
    known = {
        "sign_ms": facts.sign_ms,
        "answer_ms": facts.answer_ms,
        "effective": facts.effective,
        "review_usd": facts.review_usd,
    }
    measured = {name: value for name, value in known.items() if value is not None}
    return encode_text({**filled, **measured, "usd": facts.usd})


def _shortened(facts: HeadFacts) -> HeadFacts:
    """Return facts that lack one name: the least used tool, or else the last skill, check or text."""
    if facts.tools:
        rarest = min(facts.tools, key=lambda name: facts.tools[name].calls)
        return replace(facts, tools={name: count for name, count in facts.tools.items() if name != rarest})
    if facts.skills:
        return replace(facts, skills=facts.skills[:-1])
    if facts.checks:
        return replace(facts, checks=facts.checks[:-1])
    return replace(facts, cause="", system="", person="", channel="")


def _tool(value: object) -> ToolCount:
    calls, errors = as_list(value)
    return ToolCount(_count(calls), _count(errors))


def _names(value: object) -> tuple[str, ...]:
    return tuple(map(str, as_list(value)))


def _time(value: object) -> int | None:
    if value is None:
        return None
    return _count(value)


def _verdict(value: object) -> bool | None:
    if value is None or isinstance(value, bool):
        return value
    raise ValueError("no verdict")


def _usd(value: object) -> float | None:
    if value is None:
        return None
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise ValueError("no amount")
    return float(value)


def _count(value: object) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError("no count")
    return value
