"""Payloads that describe feedback or a review, and the refusal of deliveries."""

import json

import pytest

from gofer.sources.receiver import Ignored, RawRequest
from gofer.sources.runs.receiver import RunsReceiver
from gofer.values.errors import BadRequest
from gofer.values.events import Event

RECEIVER = RunsReceiver({"answer-here": "#dev"}, lambda owner: owner.removeprefix("#"))
ABOUT = {"run": "run1", "workflow": "answer-here"}


def translated(**described: object) -> Event | Ignored:
    body = json.dumps({**ABOUT, **described}).encode()
    return RECEIVER.translate(RawRequest("POST", "/runs", (), body))


def test_no_delivery_is_accepted() -> None:
    with pytest.raises(BadRequest, match="from inside only") as refused:
        RECEIVER.verify(RawRequest("POST", "/runs", (), b"{}"), 0)
    assert refused.value.status == 401


def test_described_feedback_becomes_an_event() -> None:
    event = translated(feedback={"verdict": "bad", "words": "no project"}, link="http://localhost/runs/run1")
    assert isinstance(event, Event)
    assert (event.kind, event.text, event.hops) == ("runs.feedback", "no project", 1)
    assert event.place["channel"] == "dev"
    assert event.place["link"] == "http://localhost/runs/run1"


def test_described_review_becomes_an_event() -> None:
    event = translated(review={"effective": False, "why": "no answer", "next_step": "answer"})
    assert isinstance(event, Event)
    assert (event.kind, event.text, event.facts["next_step"]) == ("runs.review", "no answer", "answer")


def test_withdrawn_feedback_is_ignored() -> None:
    assert isinstance(translated(feedback={"verdict": "withdrawn"}), Ignored)


@pytest.mark.parametrize("described", [{}, {"feedback": {"verdict": "so so"}}, {"review": {"effective": "no"}}])
def test_other_payload_is_refused_with_the_form(described: dict[str, object]) -> None:
    with pytest.raises(BadRequest, match=r'write ."run"'):
        translated(**described)


def test_payload_without_a_run_is_refused() -> None:
    with pytest.raises(BadRequest, match="`run` or `workflow` is missing"):
        RECEIVER.translate(RawRequest("POST", "/runs", (), b'{"run": ""}'))
