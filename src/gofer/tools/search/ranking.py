"""The ranking of many descriptions by the words of a query: the same order for the same words, by counting."""

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

_WORD = re.compile(r"[^\W_]+")
_K, _B = 1.2, 0.75
"""How soon a word that is repeated counts no more, and how much a long text is held against it: as BM25 is used to."""
_ALIKE = 4
"""Letters that two words must begin with alike, when one of them is the beginning of the other."""
_BEGINNING = 0.6
"""What such a word counts, of one that is the same."""
# fmt: off
_LITTLE = frozenset((
    "a", "about", "all", "an", "and", "any", "are", "as", "at", "be", "been", "by", "can", "did", "do", "does", "for",
    "from", "has", "have", "her", "his", "how", "i", "in", "into", "is", "it", "its", "me", "my", "not", "of", "on",
    "or", "our", "please", "some", "that", "the", "their", "there", "these", "this", "those", "to", "up", "us", "was",
    "we", "were", "what", "when", "where", "which", "who", "with", "would", "you", "your",
))
# fmt: on
"""Words that stand in every description and say nothing of what it is for."""
_NAME = 3
"""How often the words of a name count."""


def ranked(query: str, described: Mapping[str, str]) -> Sequence[str]:
    """The names whose words, or those of their descriptions, fit the query; best first, and then by name."""
    said = words(query)
    wanted = {word for word in said if word not in _LITTLE} or set(said)
    texts = {name: Counter(words(name) * _NAME + words(text)) for name, text in described.items()}
    average = sum(counts.total() for counts in texts.values()) / max(1, len(texts))
    found = {word: {name: _times(word, counts) for name, counts in texts.items()} for word in sorted(wanted)}
    scores = dict.fromkeys(described, 0.0)
    for times in found.values():
        holding = sum(1 for value in times.values() if value)
        rarity = math.log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
        for name, value in times.items():
            length = 1 - _B + _B * texts[name].total() / max(1.0, average)
            scores[name] += rarity * value * (_K + 1) / (value + _K * length)
    fitting = [name for name, score in scores.items() if score > 0]
    return sorted(fitting, key=lambda name: (-scores[name], name))


def words(text: str) -> list[str]:
    """The words of a text in lower case; a name with hyphens or underscores is several."""
    return _WORD.findall(text.casefold())


def _times(word: str, counts: Counter[str]) -> float:
    """How often a text has a word; one that only begins alike, as `comment` and `comments`, counts less."""
    alike = sum(
        count
        for other, count in counts.items()
        if other != word and min(len(word), len(other)) >= _ALIKE and (other.startswith(word) or word.startswith(other))
    )
    return counts[word] + _BEGINNING * alike
