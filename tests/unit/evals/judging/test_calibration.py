"""Calibration: the judge answers labelled examples, and the measurement is kept beside them."""

import json
from datetime import date
from pathlib import Path

import pytest

from gofer.evals.eval_file import Criterion
from gofer.evals.judging.agreement import Agreement, agreement_path, read_agreement
from gofer.evals.judging.calibration import PAUSES, STEERING, agreement_lines, calibrate
from gofer.evals.judging.judge import Judge
from gofer.evals.judging.judged import why_not_blocking
from gofer.models.language_model import Unavailable
from gofer.values.errors import ConfigError
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


async def no_wait(seconds: float) -> None:
    pass


async def measured(labels: Path, asked: Judge, criterion: Criterion = CRITERION) -> Agreement:
    agreement, problem = await calibrate(criterion, labels, asked, TODAY, no_wait)
    assert problem == ""
    return agreement


def by_word(asked: Asked) -> str:
    return verdict("CORRECT" if "pool" in asked["material"]["text"] else "INCORRECT")


async def test_measurement_counts_each_side_and_is_kept_beside_the_labels(labels: Path) -> None:
    asked, sent = judge(by_word)
    found = await measured(labels, asked)
    assert (found.both_correct, found.both_incorrect) == (6, 6)
    assert (found.wrongly_correct, found.wrongly_incorrect, found.without_verdict) == (1, 1, 0)
    assert (found.repeats_agree, found.steered, found.steering_tried) == (1.0, 0, 6)
    assert agreement_path(labels).name == "cause.jsonl.agreement.json"
    assert read_agreement(labels) == found
    assert len(sent.bodies) == 14 * 2 + 6
    assert "names it" not in json.dumps(sent.asked)


async def test_measurement_is_printed_with_interval_base_rate_and_self_consistency(labels: Path) -> None:
    first, second, third = agreement_lines(await measured(labels, judge(by_word)[0]))
    assert first == "cause: judge-model agrees with 12 of 14 labels (86%), kappa 0.71 [0.20, 0.92]"
    assert second == "  labels CORRECT: 50%; wrongly CORRECT: 1; wrongly INCORRECT: 1; without a verdict: 0"
    assert third == "  the same question twice: 100% agree; steered by the example: 0 of 6"


async def test_judge_that_contradicts_itself_is_measured(labels: Path) -> None:
    asked, _ = judge(lambda asked: verdict("CORRECT" if asked["vote"] == 1 else "INCORRECT"))
    assert (await measured(labels, asked)).repeats_agree == 0


async def test_judge_that_obeys_an_example_is_measured(labels: Path) -> None:
    def obedient(asked: Asked) -> str:
        if STEERING in asked["material"].values():
            return verdict("CORRECT")
        return by_word(asked)

    found = await measured(labels, judge(obedient)[0])
    assert (found.steered, found.steering_tried) == (6, 6)


async def test_votes_of_the_criterion_decide_about_each_example(labels: Path) -> None:
    asked, _ = judge(lambda asked: by_word(asked) if asked["vote"] < 3 else verdict("INCORRECT"))
    voting = CRITERION.model_copy(update={"votes": 3, "least_score": 0.6})
    found = await measured(labels, asked, voting)
    assert found.both_correct == 6
    assert found.repeats_agree == pytest.approx((7 * 1 / 3 + 7) / 14)


async def test_unreadable_answers_count_as_disagreement(labels: Path) -> None:
    found = await measured(labels, judge(lambda _: "Hm.")[0])
    assert (found.without_verdict, found.examples, found.accuracy) == (14, 14, 0)
    assert found.repeats_agree is None
    assert "kappa not defined" in agreement_lines(found)[0]


async def test_judge_without_answers_leaves_the_last_measurement(labels: Path) -> None:
    before = await measured(labels, judge(by_word)[0])
    silent, sent = judge(lambda _: Unavailable("503.", ProviderError("busy", message="Too many requests.")))
    agreement, problem = await calibrate(CRITERION, labels, silent, TODAY, no_wait)
    (line,) = agreement_lines(agreement, problem)
    assert line.startswith("cause: not measured; none of 14 labels got an answer. The judge judge-model did not answer")
    assert line.endswith("503. The provider says: Too many requests.")
    assert len(sent.bodies) == 14 * 2
    assert read_agreement(labels) == before


async def test_label_without_an_answer_is_asked_about_again_after_a_pause(labels: Path) -> None:
    refusals = iter([Unavailable("refused", ProviderError("busy"))] * 3)
    asked, _ = judge(lambda asked: next(refusals, by_word(asked)))
    waited: list[float] = []

    async def wait(seconds: float) -> None:
        waited.append(seconds)

    agreement, problem = await calibrate(CRITERION, labels, asked, TODAY, wait)
    assert (agreement.examples, agreement.unanswered, problem, waited) == (14, 0, "", [PAUSES[0]])
    assert read_agreement(labels) == agreement


def away(asked: Asked) -> str | Exception:
    if "3" in asked["material"]["text"]:
        return Unavailable("connection refused.", ProviderError("busy"))
    return by_word(asked)


async def test_judged_labels_are_kept_and_the_next_measurement_asks_about_the_rest(labels: Path) -> None:
    incomplete, problem = await calibrate(CRITERION, labels, judge(away)[0], TODAY, no_wait)
    assert (incomplete.examples, incomplete.unanswered) == (12, 2)
    lines = agreement_lines(incomplete, problem)
    assert "judged 12 of 14 labels, so the measurement does not count yet. The judge" in lines[3]
    assert why_not_blocking(CRITERION, judge(by_word)[0], labels.parent).startswith(
        "The agreement is measured on 12 of 14 labels."
    )
    asked, sent = judge(by_word)
    complete = await measured(labels, asked)
    assert len(sent.bodies) == 2 * 2 + 1
    whole = labels.with_name("whole.jsonl")
    whole.write_bytes(labels.read_bytes())
    assert complete == await measured(whole, judge(by_word)[0])


async def test_incomplete_measurement_of_another_endpoint_is_not_continued(labels: Path) -> None:
    await calibrate(CRITERION, labels, judge(away)[0], TODAY, no_wait)
    asked, sent = judge(by_word)
    asked.default_url = "http://127.0.0.1:9/v1"
    assert (await measured(labels, asked)).endpoint == "http://127.0.0.1:9/v1"
    assert len(sent.bodies) == 14 * 2 + 6


async def test_script_in_place_of_a_judge_is_not_measured(labels: Path) -> None:
    with pytest.raises(ConfigError, match="A script answered for the judge"):
        await measured(labels, judge(by_word, "scripted")[0])
    assert not agreement_path(labels).exists()


async def test_labels_without_an_example_are_refused(tmp_path: Path) -> None:
    empty = tmp_path / "l.jsonl"
    empty.write_text("\n")
    with pytest.raises(ConfigError, match="have no example"):
        await calibrate(CRITERION, empty, judge(by_word)[0], TODAY)


async def test_measurement_that_cannot_be_read_is_named_and_replaced(labels: Path) -> None:
    agreement_path(labels).write_text('{"format": 2}')
    reason = why_not_blocking(CRITERION, judge(by_word)[0], labels.parent)
    assert reason == "The measurement cause.jsonl.agreement.json cannot be read. Run `gofer eval --calibrate`."
    found = await measured(labels, judge(by_word)[0])
    assert read_agreement(labels) == found
