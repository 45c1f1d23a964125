"""The evidence about a workflow, and when it is too little for a question to a model."""

from gofer.learning.suggestions.evidence import MOST_AFFECTED, MOST_GOOD, MOST_GROUPS, Evidence, evidence_of
from gofer.runtime.run_record import RunRecord
from support.learning.ended_run import disliked, ended_run, failed_call, failed_check, liked, low_review

WRONG = "The ticket is in the wrong project."


def evidence(*records: RunRecord, reviews_do_not_count: str = "not measured") -> Evidence:
    return evidence_of("w", records, current=len(records), days=30, reviews_do_not_count=reviews_do_not_count)


def test_two_runs_with_the_same_failed_check_are_enough() -> None:
    found = evidence(ended_run("a", failed_check("c")), ended_run("b", failed_check("c")))
    assert (found.too_little, found.affected) == ("", ["a", "b"])


def test_different_checks_are_too_little() -> None:
    found = evidence(ended_run("a", failed_check("c")), ended_run("b", failed_check("d")))
    assert found.too_little.startswith("No 2 runs have the same failed check")
    assert (found.affected, found.looked.failed_checks) == ([], 2)


def test_feedback_in_words_is_enough_alone() -> None:
    assert evidence(ended_run("a", disliked(WRONG))).too_little == ""
    assert evidence(ended_run("a", disliked())).too_little != ""


def test_reviews_alone_are_too_little_until_reviews_count() -> None:
    records = [ended_run("a", low_review(WRONG)), ended_run("b", low_review(WRONG))]
    assert evidence(*records).too_little != ""
    assert evidence(*records).looked.low_reviews == 2
    assert evidence(*records, reviews_do_not_count="").too_little == ""


def test_tool_that_fails_once_is_too_little() -> None:
    once = ended_run("a", *failed_call("1.0", "find"))
    again = ended_run("b", *failed_call("1.0", "find"))
    assert evidence(once).too_little != ""
    assert evidence(once, again).too_little == ""


def test_no_run_is_too_little() -> None:
    assert evidence().too_little == "There is no public run to learn from."


def test_good_runs_have_good_feedback_and_no_sign() -> None:
    failed = ended_run("b", liked(), failed_check("c"))
    assert evidence(ended_run("a", liked()), failed, ended_run("c")).good == ["a"]


def test_groups_and_runs_are_limited() -> None:
    many = [ended_run(f"{number}", disliked(WRONG)) for number in range(20)]
    good = [ended_run(f"g{number}", liked()) for number in range(20)]
    other = [ended_run(f"{name}{number}", failed_check(f"check-{name}")) for name in "abcdefgh" for number in range(2)]
    found = evidence(*many, *good, *other)
    assert (len(found.groups), len(found.affected), len(found.good)) == (MOST_GROUPS, MOST_AFFECTED, MOST_GOOD)
    assert found.looked.sentence == (
        "Looked at 56 runs of 30 days, 56 with the current prompt: 20 with bad and 20 with good feedback, 0 with a low "
        "review, 16 with a failed check."
    )
