"""Groups of requests that are alike in their words and in the tools that answered them.

The groups are deterministic, and no model makes them: each request is a vector of its words, weighed by how rare they
are (TF-IDF), beside the tools of its run. A request joins the group whose mean it resembles most, if it resembles it
enough. Groups that are alike are joined. Then every request is compared with all groups once more, because the first
groups were made before the last requests were seen.
"""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from gofer.learning.candidates.request_words import words_of
from gofer.learning.candidates.requests import Request

ALIKE = 0.4
"""The least similarity, from 0 to 1, of a request to its group."""
TOOLS_SHARE = 0.3
"""How much of the similarity the tools decide; the words decide the rest."""
RAREST = 0.02
"""The share of requests below which a word weighs no more for being rarer."""
MOST_GROUPS = 400
"""The most groups. Requests that resemble none of so many groups stay alone."""

Vector = Mapping[str, float]


@dataclass(slots=True)
class Group:
    """Some requests, the sums of their vectors, and how often each tool answered them."""

    members: list[int] = field(default_factory=list[int])
    words: dict[str, float] = field(default_factory=dict[str, float])
    tools: Counter[str] = field(default_factory=Counter[str])
    _length: float = 0.0

    def add(self, number: int, words: Vector, tools: Sequence[str]) -> None:
        """Add a request."""
        self.members.append(number)
        for word, weight in words.items():
            before = self.words.get(word, 0.0)
            self._length += (before + weight) ** 2 - before**2
            self.words[word] = before + weight
        self.tools.update(tools)

    def similarity(self, words: Vector, tools: Sequence[str]) -> float:
        """Return how much a request resembles the mean of the group, from 0 to 1."""
        words_alike = self._cosine(words)
        if not tools and not self.tools:
            # Two runs without a tool say nothing about each other by that.
            return words_alike
        return (1 - TOOLS_SHARE) * words_alike + TOOLS_SHARE * self._overlap(tools)

    def _cosine(self, words: Vector) -> float:
        if self._length <= 0:
            return 0.0
        return sum(weight * self.words.get(word, 0.0) for word, weight in words.items()) / math.sqrt(self._length)

    def _overlap(self, tools: Sequence[str]) -> float:
        """Return the shared part of the tools, each weighed by the share of members that used it."""
        count = len(self.members)
        shared = sum(self.tools[tool] / count for tool in tools)
        whole = sum(self.tools.values()) / count + len(tools) - shared
        return shared / whole if whole else 1.0


def grouped(requests: Sequence[Request]) -> Sequence[tuple[Sequence[Request], Mapping[str, float]]]:
    """Return the groups with their requests in the given order, the largest first, and the weight of each word."""
    vectors = _vectors(requests)
    groups = _assigned(requests, vectors, _joined(_assigned(requests, vectors, []), requests, vectors))
    found = sorted(groups, key=lambda group: (-len(group.members), group.members))
    return [([requests[number] for number in sorted(group.members)], group.words) for group in found]


def _joined(groups: Sequence[Group], requests: Sequence[Request], vectors: Sequence[Vector]) -> Sequence[Group]:
    """Return the groups, the largest first, with those that are alike joined."""
    found: list[Group] = []
    for group in sorted(groups, key=lambda group: (-len(group.members), group.members)):
        tools = [tool for tool, count in group.tools.items() if count * 2 >= len(group.members)]
        best = _best(found, _normal(group.words), tools)
        if best is None:
            best = len(found)
            found.append(Group())
        for number in group.members:
            found[best].add(number, vectors[number], requests[number].tools)
    return found


def _assigned(requests: Sequence[Request], vectors: Sequence[Vector], known: Sequence[Group]) -> Sequence[Group]:
    """Return new groups: each request with the known or new group that it resembles most."""
    means = list(known)
    made: dict[int, Group] = {}
    growing = not known
    for number, (request, vector) in enumerate(zip(requests, vectors, strict=True)):
        best = _best(means, vector, request.tools)
        if best is None:
            if growing and len(means) == MOST_GROUPS:
                continue
            best = len(means)
            means.append(Group())
        if growing:
            means[best].add(number, vector, request.tools)
        made.setdefault(best, Group()).add(number, vector, request.tools)
    return list(made.values())


def _best(means: Sequence[Group], words: Vector, tools: Sequence[str]) -> int | None:
    """Return the index of the group that a request resembles most; None if it resembles none enough."""
    best: int | None = None
    most = ALIKE
    for index, mean in enumerate(means):
        if not mean.members:
            continue
        found = mean.similarity(words, tools)
        if found > most or (found == most and best is None):
            best, most = index, found
    return best


def _vectors(requests: Sequence[Request]) -> Sequence[Vector]:
    """Return the words of each request with their weights; each vector has the length 1.

    A word that only one request has says nothing about others and is left out.
    """
    counted = [Counter(words_of(request.text)) for request in requests]
    in_requests = Counter(word for words in counted for word in words)
    rare = max(2, len(requests) * RAREST)
    weights = {word: math.log(1 + len(requests) / max(count, rare)) for word, count in in_requests.items() if count > 1}
    return [
        _normal({word: (1 + math.log(times)) * weights[word] for word, times in words.items() if word in weights})
        for words in counted
    ]


def _normal(vector: Vector) -> Vector:
    length = math.sqrt(sum(weight**2 for weight in vector.values()))
    return {word: weight / length for word, weight in vector.items()} if length else {}
