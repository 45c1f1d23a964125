"""Passages that prompts share: planted ones are found with small edits, and unrelated prompts share none."""

import random
from collections.abc import Mapping, Sequence

from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.candidates.shared_passages import FEWEST_WORDS, shared_passages


def words(chance: random.Random, count: int) -> list[str]:
    return ["".join(chance.choices("abcdefghijklmnop", k=6)) for _ in range(count)]


def in_lines(found: Sequence[str]) -> str:
    return "\n".join(" ".join(found[first : first + 8]) for first in range(0, len(found), 8))


def prompts(chance: random.Random, files: int, planted: Sequence[str], edits: int) -> Mapping[str, str]:
    """Return prompts of random words; each has the planted passage with some words replaced."""
    found: dict[str, str] = {}
    for number in range(files):
        passage = list(planted)
        for place in chance.sample(range(0, len(passage), 12), min(edits, len(passage) // 12)):
            passage[place] = "EDITED"
        before, after = in_lines(words(chance, 40)), in_lines(words(chance, 40))
        found[f"agents/w{number}.md"] = f"{before}\n\n{in_lines(passage)}\n\n{after}\n"
    return found


@given(st.integers(0, 2**32), st.integers(2, 5), st.integers(60, 150), st.integers(0, 3))
def test_planted_passage_is_always_found_in_each_file(seed: int, files: int, size: int, edits: int) -> None:
    chance = random.Random(seed)
    (found,) = shared_passages(prompts(chance, files, words(chance, size), edits))
    assert [place.file for place in found.places] == [f"agents/w{number}.md" for number in range(files)]
    assert found.words >= FEWEST_WORDS


@given(st.integers(0, 2**32), st.integers(2, 6))
def test_unrelated_prompts_never_share_a_passage(seed: int, files: int) -> None:
    assert shared_passages(prompts(random.Random(seed), files, (), 0)) == []


def test_short_passage_does_not_count() -> None:
    chance = random.Random(1)
    assert shared_passages(prompts(chance, 2, words(chance, FEWEST_WORDS - 1), 0)) == []


def test_passage_has_the_lines_of_its_files() -> None:
    chance = random.Random(2)
    planted = words(chance, 48)
    texts = {"agents/a.md": in_lines(planted), "skills/b/SKILL.md": f"# Title\n\n{in_lines(planted).upper()}\n"}
    (found,) = shared_passages(texts)
    assert found.text == in_lines(planted)
    assert [(place.file, place.first, place.last) for place in found.places] == [
        ("agents/a.md", 1, 6),
        ("skills/b/SKILL.md", 3, 8),
    ]
