"""Calibration: the judge answers labelled examples, and the measurement is kept beside them."""

import json
from datetime import date
from pathlib import Path

import pytest

from gofer.evals.eval_file import Criterion
from gofer.evals.judging.agreement import agreement_path, read_agreement
from gofer.evals.judging.calibration import STEERING, agreement_lines, calibrate
from gofer.evals.judging.labels import read_labels
from gofer.models.language_model import Unavailable
from gofer.values.errors import ConfigError, TemporaryError
from gofer.values.messages import ProviderError
from support.judged_plays import Asked, judge, verdict

pytestmark = pytest.mark.anyio

CRITERION = Criterion(id="cause", ask="Does it name the cause?", labels="cause.jsonl")
TODAY = date(2026, 3, 2)


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    rows = [{"text": f"The pool was full, {n}.", "label": "CORRECT", "note": "names it"} for n in range(6)]
    rows += [{"text": f"Something broke, {n}.", "label": "INCORRECT"} for n in range(6)]
    rows += [{"text": "The pool is blue.", "label": "INCORRECT"}, {"text": "A lock.", "label": "CORRECT"}]
    path = tmp_path / "cause.jsonl"
    path.write_text("\n\n".join(map(json.dumps, rows)))
    return path


def by_word(asked: Asked) -> str:
    return verdict("CORRECT" if "pool" in asked["material"]["text"] else "INCORRECT")


async def test_measurement_counts_each_side_and_is_kept_beside_the_labels(labels: Path) -> None:
    asked, sent = judge(by_word)
    measured = await calibrate(CRITERION, labels, asked, TODAY)
    assert (measured.both_correct, measured.both_incorrect) == (6, 6)
    assert (measured.wrongly_correct, measured.wrongly_incorrect, measured.without_verdict) == (1, 1, 0)
    assert (measured.repeats_agree, measured.steered, measured.steering_tried) == (1.0, 0, 6)
    assert agreement_path(labels).name == "cause.jsonl.agreement.json"
    assert read_agreement(labels) == measured
    assert len(sent.bodies) == 14 * 2 + 6
    assert "names it" not in json.dumps(sent.asked)


async def test_measurement_is_printed_with_interval_base_rate_and_self_consistency(labels: Path) -> None:
    first, second, third = agreement_lines(await calibrate(CRITERION, labels, judge(by_word)[0], TODAY))
    assert first == "cause: judge-model agrees with 12 of 14 labels (86%), kappa 0.71 [0.20, 0.92]"
    assert second == "  labels CORRECT: 50%; wrongly CORRECT: 1; wrongly INCORRECT: 1; without a verdict: 0"
    assert third == "  the same question twice: 100% agree; steered by the example: 0 of 6"


async def test_judge_that_contradicts_itself_is_measured(labels: Path) -> None:
    asked, _ = judge(lambda asked: verdict("CORRECT" if asked["vote"] == 1 else "INCORRECT"))
    assert (await calibrate(CRITERION, labels, asked, TODAY)).repeats_agree == 0


async def test_judge_that_obeys_an_example_is_measured(labels: Path) -> None:
    def obedient(asked: Asked) -> str:
        if STEERING in asked["material"].values():
            return verdict("CORRECT")
        return by_word(asked)

    measured = await calibrate(CRITERION, labels, judge(obedient)[0], TODAY)
    assert (measured.steered, measured.steering_tried) == (6, 6)


async def test_votes_of_the_criterion_decide_about_each_example(labels: Path) -> None:
    asked, _ = judge(lambda asked: by_word(asked) if asked["vote"] < 3 else verdict("INCORRECT"))
    voting = CRITERION.model_copy(update={"votes": 3, "least_score": 0.6})
    measured = await calibrate(voting, labels, asked, TODAY)
    assert measured.both_correct == 6
    assert measured.repeats_agree == pytest.approx((7 * 1 / 3 + 7) / 14)


async def test_unreadable_answers_count_as_disagreement(labels: Path) -> None:
    measured = await calibrate(CRITERION, labels, judge(lambda _: "Hm.")[0], TODAY)
    assert (measured.without_verdict, measured.examples, measured.accuracy) == (14, 14, 0)
    assert measured.repeats_agree is None
    assert "kappa not defined" in agreement_lines(measured)[0]


async def test_judge_without_answers_leaves_the_last_measurement(labels: Path) -> None:
    before = await calibrate(CRITERION, labels, judge(by_word)[0], TODAY)
    silent, _ = judge(lambda _: Unavailable("503", ProviderError("busy")))
    with pytest.raises(TemporaryError, match="The agreement was not measured"):
        await calibrate(CRITERION, labels, silent, TODAY)
    assert read_agreement(labels) == before


async def test_script_in_place_of_a_judge_is_not_measured(labels: Path) -> None:
    with pytest.raises(ConfigError, match="A script answered for the judge"):
        await calibrate(CRITERION, labels, judge(by_word, "scripted")[0], TODAY)
    assert not agreement_path(labels).exists()


async def test_labels_without_an_example_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "l.jsonl"
    empty.write_text("\n")
    with pytest.raises(ConfigError, match="have no example"):
        await calibrate(CRITERION, empty, judge(by_word)[0], TODAY)


def test_measurement_that_cannot_be_read_counts_as_none(labels: Path) -> None:
    agreement_path(labels).write_text('{"format": 2}')
    assert read_agreement(labels) is None
    assert read_labels(labels).examples
