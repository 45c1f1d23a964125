"""Votes of a judge: separate requests, a second try for unreadable answers, and their count."""

import pytest

from gofer.evals.judging.judge import Judge, NoVote, Opinion
from gofer.evals.judging.question import Question
from gofer.evals.judging.verdict import Verdict
from gofer.models.language_model import Unavailable, Unusable
from gofer.models.served_model import ServedModel
from gofer.values.messages import ProviderError
from support.judged_plays import Asked, DecidingModel, judge, verdict

pytestmark = pytest.mark.anyio

QUESTION = Question("Does it name the cause?", ["Other words are no error."], {"text": "The pool was full."})


async def test_each_vote_is_a_request_of_its_own_with_its_number() -> None:
    asked, model = judge(lambda asked: verdict("CORRECT" if asked["vote"] < 3 else "INCORRECT"))
    opinion = Opinion(await asked.votes(QUESTION, 3), 0.6)
    assert [vote.decision for vote in opinion.verdicts] == ["CORRECT", "CORRECT", "INCORRECT"]
    assert (opinion.score, opinion.passed) == (2 / 3, True)
    assert Opinion(opinion.votes, 0.8).passed is False
    assert len(set(model.bodies)) == 3
    assert asked.requests == 3
    assert asked.cost_usd == pytest.approx(3 * 0.002)


async def test_unreadable_answer_is_asked_for_once_more_with_the_reason() -> None:
    asked, model = judge(lambda asked: verdict("CORRECT") if "problem" in asked else "I think so.")
    assert [vote for vote in await asked.votes(QUESTION, 1) if isinstance(vote, Verdict)]
    assert "not one JSON object" in model.asked[1]["problem"]


async def test_answer_that_stays_unreadable_is_no_vote() -> None:
    asked, model = judge(lambda _: Unusable("The answer was empty."))
    (vote,) = await asked.votes(QUESTION, 1)
    assert isinstance(vote, NoVote)
    assert vote.kind == "unreadable"
    assert len(model.bodies) == 2
    assert Opinion([vote], 0.8).passed is None


async def test_judge_without_an_answer_is_a_failure_of_infrastructure_and_not_asked_again() -> None:
    asked, model = judge(lambda _: Unavailable("503", ProviderError("busy")))
    (vote,) = await asked.votes(QUESTION, 1)
    assert isinstance(vote, NoVote)
    assert (vote.kind, vote.problem) == ("infrastructure", "The judge judge-model did not answer: 503")
    assert len(model.bodies) == 1


def test_half_of_the_votes_is_no_majority() -> None:
    yes = Verdict("CORRECT", "", "")
    no = Verdict("INCORRECT", "", "")
    missing = NoVote("unreadable", "Unreadable.")
    assert Opinion([yes, no], 0.5).passed is False
    assert Opinion([yes, missing], 0.5).passed is None
    assert Opinion([yes, yes, missing], 0.8).passed is True
    assert Opinion([yes, no, missing], 0.5).passed is False


def test_deciding_verdict_is_on_the_side_that_decided_and_has_a_quote() -> None:
    votes = [Verdict("CORRECT", "q", ""), Verdict("INCORRECT", "", ""), Verdict("INCORRECT", "evidence", "")]
    deciding = Opinion(votes, 0.8).deciding
    assert deciding is not None
    assert deciding.quote == "evidence"


async def test_cost_is_unknown_for_a_judge_without_a_price() -> None:
    def decide(asked: Asked) -> str:
        return verdict("CORRECT")

    asked = Judge(ServedModel("judge-model"), DecidingModel(decide))
    await asked.votes(QUESTION, 1)
    assert asked.cost_usd is None


def test_endpoint_of_a_judge_is_committed_without_credentials() -> None:
    asked, _ = judge(lambda _: "")
    asked.default_url = "https://user:secret@models.example:8443/v1?key=secret"
    assert asked.endpoint == "https://models.example:8443/v1"
    asked.default_url = ""
    assert asked.endpoint == ""
