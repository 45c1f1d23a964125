"""Token estimates: near the counts of real vocabularies for any content, and cheap for large texts."""

import base64
import json
import random
import uuid

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.tokens import SAMPLE, estimate

chance = random.Random(7)
PROSE = (
    "The second half of the year brought fewer incidents than the first, although the number of deployments doubled. "
    "Most of what went wrong was found by people and not by alerts, which is why the next quarter begins with alerts. "
)
CODE = '''
def total(items, rate=0.19):
    """The price of all items, with tax."""
    result = 0
    for item in items:
        if item.quantity > 0:
            result += item.price * item.quantity
    return round(result * (1 + rate), 2)
'''
RECORDS = [
    {"id": n, "name": f"order {n}", "status": "open", "total": n * 3, "customer": {"city": "Oslo"}} for n in range(40)
]
CASES = {
    # Bytes per token of each kind, as vocabularies of today count them.
    "prose": (PROSE * 10, 4.7),
    "code": (CODE * 8, 3.6),
    "json": (json.dumps(RECORDS, separators=(",", ":")), 3.0),
    "uuids": ("\n".join(str(uuid.UUID(int=chance.getrandbits(128))) for _ in range(100)), 1.57),
    "base64": (base64.b64encode(chance.randbytes(3000)).decode(), 1.47),
    "numbers": ("\n".join(",".join(f"{chance.uniform(0, 1e5):.3f}" for _ in range(6)) for _ in range(60)), 2.0),
    "japanese": ("このシステムは、利用者が質問を書き込むと、関連する文書を探して答えを返します。" * 20, 3.8),
    "chinese": ("本系统会根据用户提出的问题自动查找相关文档，并给出简明的回答。" * 20, 3.7),
    "korean": ("이 시스템은 사용자가 질문을 입력하면 관련 문서를 찾아 답변을 제공합니다. " * 20, 4.0),
}


@pytest.mark.parametrize("name", CASES)
def test_token_estimate_is_within_15_percent_of_a_vocabulary(name: str) -> None:
    text, bytes_per_token = CASES[name]
    assert estimate(text) == pytest.approx(len(text.encode()) / bytes_per_token, rel=0.15)


@given(st.text())
def test_token_estimate_is_zero_only_for_the_empty_text(text: str) -> None:
    assert (estimate(text) > 0) == (text != "")


def test_token_estimate_of_a_large_text_samples_the_whole_length() -> None:
    text = CASES["prose"][0] * 500 + CASES["numbers"][0] * 50
    guess = estimate(text)
    other = "漢" * 1_000
    assert guess in [estimate(text[:at] + other + text[at + 1_000 :]) for at in range(0, len(text), len(text) // 20)]
    pieces = sum(estimate(text[at : at + SAMPLE]) for at in range(0, len(text), SAMPLE))
    assert guess == pytest.approx(pieces, rel=0.15)
