"""Regressions and harmless changes of each kind, planted into copies of the repository."""

import pytest

from support.mutants.planted_changes import HARMLESS, REGRESSIONS, ROOT, Planted, harmless_seen, regressions_seen


@pytest.mark.parametrize("planted", [*REGRESSIONS, *HARMLESS], ids=lambda planted: planted.change)
def test_planted_change_alters_its_file(planted: Planted) -> None:
    text = (ROOT / planted.file).read_text()
    assert text.replace(planted.old, planted.new, 1) != text


@pytest.mark.rehearsal(
    "tests/unit/replay/test_replay.py::test_texts_that_a_model_reads_are_never_only_words_of_gofer",
    "tests/journeys/test_goldens.py::test_changed_request_of_gofer_is_red_until_the_recording_has_the_new_one",
)
def test_each_regression_is_seen_and_no_harmless_change_is() -> None:
    assert [one.planted.change for one in regressions_seen() if not one.gate] == []
    assert [(one.planted.change, one.gate, one.said) for one in harmless_seen() if one.gate] == []
