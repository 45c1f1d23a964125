"""The golden file of the Markdown samples, compared with what the three writers make of them today."""

import json

import pytest

from generators.markdown_written import GOLDEN, SAMPLES, written

EXPECTED = json.loads(GOLDEN.read_text())


@pytest.fixture(scope="module")
def made() -> dict:
    return written()


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_is_written_as_it_was_reviewed(name: str, made: dict) -> None:
    assert made[name] == EXPECTED[name], (
        "review what changed: PYTHONPATH=tests python -m generators.markdown_written; git diff"
    )


def test_the_golden_file_has_each_sample_and_no_other() -> None:
    assert list(EXPECTED) == list(SAMPLES)
