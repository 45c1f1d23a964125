"""Workflows that are not there yet: groups of alike requests, with what a workflow for each would need."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from gofer.journal.coordination import DAY_MS
from gofer.learning.candidates.grouping import grouped
from gofer.learning.candidates.request_words import words_of
from gofer.learning.candidates.requests import Request

FEWEST_RUNS = 5
"""The runs from which on a group is a candidate."""
FEWEST_DAYS = 2
"""The days on which the requests of a candidate came."""
USED = 0.3
"""The share of the runs from which on a tool or a skill belongs to the workflow."""
LONGEST_REQUEST = 300
"""The most characters of a request that are shown."""
_REFERENCE = re.compile(r"<[@#!][^>]*>")
"""A person, a channel or a group in a text, as a source writes it."""
_EXAMPLES = 3
_NAME_WORDS = 2
_WEEK_MS = 7 * DAY_MS


@dataclass(frozen=True, slots=True)
class Share:
    """A name, and the share of the runs that it occurs in, from 0 to 1."""

    name: str
    share: float


@dataclass(frozen=True, slots=True)
class Candidate:
    """A workflow that could be made."""

    name: str
    runs: Sequence[str]
    """The ids of the runs, the newest first."""
    people: int
    weeks: Sequence[int]
    """The runs of each week from the first request to the last."""
    usd: float | None
    """The cost of all the runs; None if that of a run is not known."""
    workflows: Mapping[str, int]
    """The workflows that answered the requests, with their runs."""
    kind: str
    """The kind of event that most of the requests came with."""
    word: Share
    """The word that most of the requests have."""
    tools: Sequence[Share]
    """The tools of the runs in the order of their first calls."""
    skills: Sequence[Share]
    request: str
    """The request that resembles the others most."""
    others: Sequence[str]
    """Requests that differ from it."""

    @property
    def usd_per_run(self) -> float | None:
        """The mean cost of a run."""
        return self.usd / len(self.runs) if self.usd is not None else None


def candidates(requests: Sequence[Request]) -> Sequence[Candidate]:
    """Return the candidates among requests, those with the most runs first."""
    taken: set[str] = set()
    found: list[Candidate] = []
    for members, weights in grouped(requests):
        if _is_frequent(members):
            found.append(_candidate(members, weights, taken))
    return found


def _is_frequent(members: Sequence[Request]) -> bool:
    return len(members) >= FEWEST_RUNS and len({one.at // DAY_MS for one in members}) >= FEWEST_DAYS


def _candidate(members: Sequence[Request], weights: Mapping[str, float], taken: set[str]) -> Candidate:
    ranked = sorted(members, key=lambda one: (-_typical(one, weights), len(one.text), one.run))
    costs = [one.usd for one in members]
    words = _shares(members, [{*words_of(one.text)} for one in members])
    words.sort(key=lambda share: (-share.share, -len(share.name), share.name))
    return Candidate(
        name=_name(words, taken),
        runs=[one.run for one in members],
        people=len({one.person for one in members}),
        weeks=_weeks([one.at for one in members]),
        usd=None if None in costs else sum(cost for cost in costs if cost is not None),
        workflows=dict(Counter(one.workflow for one in members).most_common()),
        kind=Counter(one.kind for one in members).most_common(1)[0][0],
        word=words[0] if words else Share("", 0.0),
        tools=[share for share in _in_order(members) if share.share >= USED],
        skills=[share for share in _shares(members, [one.skills for one in members]) if share.share >= USED],
        request=_shown(ranked[0].text),
        others=_others(ranked),
    )


def _typical(request: Request, weights: Mapping[str, float]) -> float:
    words = {*words_of(request.text)}
    # `fsum` is exact, so that the order of a set does not decide between requests of one weight.
    return math.fsum(weights.get(word, 0.0) for word in words) / math.sqrt(len(words) or 1)


def _others(ranked: Sequence[Request]) -> Sequence[str]:
    """Return requests with other words, the least typical of them last."""
    shown = {_shown(one.text): None for one in ranked[1:]}
    shown.pop(_shown(ranked[0].text), None)
    different = list(shown)
    step = max(1, len(different) // _EXAMPLES)
    return different[::step][:_EXAMPLES]


def _shown(text: str) -> str:
    line = " ".join(_REFERENCE.sub(" ", text).split())
    if len(line) > LONGEST_REQUEST:
        return f"{line[:LONGEST_REQUEST]}…"
    return line


def _shares(members: Sequence[Request], names: Iterable[Iterable[str]]) -> list[Share]:
    counts = Counter(name for each in names for name in dict.fromkeys(each))
    ordered = sorted(counts.items(), key=lambda one: (-one[1], one[0]))
    return [Share(name, count / len(members)) for name, count in ordered]


def _in_order(members: Sequence[Request]) -> Sequence[Share]:
    """Return the tools by their mean place among the calls of the runs that made them."""
    places: dict[str, list[int]] = {}
    for one in members:
        for place, tool in enumerate(one.tools):
            places.setdefault(tool, []).append(place)
    ordered = sorted(places, key=lambda tool: (sum(places[tool]) / len(places[tool]), tool))
    return [Share(tool, len(places[tool]) / len(members)) for tool in ordered]


def _weeks(times: Sequence[int]) -> Sequence[int]:
    first = min(times)
    counts = Counter((at - first) // _WEEK_MS for at in times)
    return [counts[week] for week in range(max(counts) + 1)]


def _name(words: Sequence[Share], taken: set[str]) -> str:
    """Return a new name of the two most frequent words, as names of workflows are written."""
    usable = [share.name for share in words if share.name.isascii() and share.name.isalpha()]
    base = "-".join(usable[:_NAME_WORDS]) or "requests"
    name = base
    number = 2
    while name in taken:
        name = f"{base}-{number}"
        number += 1
    taken.add(name)
    return name
