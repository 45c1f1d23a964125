"""The golden file of Markdown samples against the output of the three writers."""

import json

import pytest

from generators.markdown_written import GOLDEN, SAMPLES, written

EXPECTED = json.loads(GOLDEN.read_text())


@pytest.fixture(scope="module")
def made() -> dict:
    return written()


@pytest.mark.parametrize("name", SAMPLES)
def test_markdown_sample_is_written_as_in_the_golden_file(name: str, made: dict) -> None:
    assert made[name] == EXPECTED[name], (
        "review what changed: PYTHONPATH=tests python -m generators.markdown_written; git diff"
    )


def test_markdown_golden_file_has_exactly_the_samples() -> None:
    assert list(EXPECTED) == list(SAMPLES)
