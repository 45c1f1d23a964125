"""The token account: the error of its estimates against counts of a provider, and how it learns."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.journal.entries import LlmRequest, LlmResponse, Recorded
from gofer.journal.workspace_entries import Weights
from gofer.projections.requests.token_account import Ledger, project
from gofer.values.messages import Usage
from gofer.values.tokens import content_of, estimate

COUNTED = json.loads((Path(__file__).parent / "counted_tokens.json").read_text())
KINDS = {"prose": "prose", "code": "code", "json": "json", "japanese": "cjk", "chinese": "cjk", "korean": "cjk"}
"""The kind of content of each sample."""
FIXED = 700
"""Tokens of the system prompt and of tool definitions, which a provider counts too."""


def kinds_of(texts: Sequence[str]) -> dict[str, int]:
    found = {"prose": 640}
    for text in texts:
        found[content_of(text)] = found.get(content_of(text), 0) + estimate(text)
    return found


def errors(parts: Sequence[dict[str, object]]) -> list[float]:
    """Return the relative errors of requests that each have one part more, after the first was counted."""
    ledger, wrong = Ledger(), list[float]()
    for number in range(1, len(parts) + 1):
        texts, actual = [str(part["text"]) for part in parts[:number]], FIXED
        actual += sum(int(str(part["tokens"])) for part in parts[:number])
        kinds = kinds_of(texts)
        expected = ledger.predict(kinds)
        wrong.append(abs(expected - actual) / actual)
        ledger.learn(kinds, actual)
    return wrong[1:]


@pytest.mark.parametrize("sample", KINDS)
def test_token_estimate_is_within_three_percent_after_the_first_call(sample: str) -> None:
    assert max(errors(COUNTED[sample])) < 0.03


def test_token_estimate_of_mixed_content_is_within_three_percent_after_the_first_call() -> None:
    mixed = [part for parts in zip(*(COUNTED[sample] for sample in KINDS), strict=False) for part in parts]
    assert max(errors(mixed)) < 0.03


@pytest.mark.parametrize(("sample", "kind"), KINDS.items())
def test_kind_of_content_is_recognized(sample: str, kind: str) -> None:
    recognized = [content_of(part["text"]) for part in COUNTED[sample]]
    assert recognized.count(kind) >= len(recognized) - 2


def test_token_ledger_is_kept_per_model() -> None:
    def asked(model: str, tokens: int) -> list[Recorded]:
        weights = Weights({"history": 1_000}, {"prose": 1_000})
        request = LlmRequest("1.0", "", {"model": model}, "", weights)
        answer = LlmResponse("x", (), "stop", model, Usage(tokens, 1, 0), None, 1)
        return [Recorded(1, 0, 0, "me", request), Recorded(1, 1, 0, "me", answer)]

    account = project([*asked("a", 1_000), *asked("b", 1_500)])
    assert account.predict("a", {"prose": 2_000}) == 2_000
    assert account.predict("b", {"prose": 2_000}) == 3_000
    assert account.predict("c", {"prose": 2_000}) == 2_000
    assert account.peak == 1_500


counts = st.dictionaries(st.sampled_from(sorted(KINDS.values())), st.integers(0, 50_000), min_size=1)


@given(st.lists(st.tuples(counts, st.integers(0, 200_000)), max_size=8), counts)
def test_token_estimate_stays_plausible_for_any_count_of_a_provider(
    said: list[tuple[dict[str, int], int]], now: dict[str, int]
) -> None:
    ledger = Ledger()
    for kinds, tokens in said:
        ledger.learn(kinds, tokens)
    assert ledger.predict(now) >= 0
    assert all(0.4 <= factor <= 2.5 for factor in ledger.factors.values())
    if said and said[-1][1]:
        assert ledger.predict(said[-1][0]) == said[-1][1]


LEARNS = """
from random import Random
from gofer.projections.requests.token_account import Ledger
chance, ledger, kinds = Random(7), Ledger(), dict.fromkeys(("prose", "code", "json", "cjk", "image"), 0)
for _ in range(50):
    kinds = {kind: tokens + chance.randint(0, 900) for kind, tokens in kinds.items()}
    ledger.learn(kinds, round(sum(kinds.values()) * chance.uniform(0.8, 1.3)))
print(sorted(ledger.factors.items()))
"""


def test_token_ledger_learns_the_same_factors_in_every_process() -> None:
    learned = set[bytes]()
    for seed in "0123":
        # Hashes of strings differ between processes, and so does the order of a set.
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        learned.add(
            subprocess.run([sys.executable, "-c", LEARNS], env=environment, capture_output=True, check=True).stdout
        )
    assert len(learned) == 1
