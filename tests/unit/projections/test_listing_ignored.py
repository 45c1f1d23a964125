"""Lists show one run for each event: the workflows that ignored it stand in no list beside the one that began."""

from gofer.journal.coordination import Head, HeadStatus
from gofer.projections.listing import one_for_each_event


def head(workflow: str, status: HeadStatus, conversation: str = "c", at: int = 10_000) -> Head:
    return Head(f"{workflow} of {conversation} at {at}", workflow, conversation, at, status, private=False)


def shown(*heads: Head) -> list[tuple[str, str]]:
    return [(one.workflow, one.status) for one in one_for_each_event(heads)]


def test_workflows_that_ignored_an_event_are_left_out_beside_its_run() -> None:
    heads = (head("a", "ignored"), head("b", "ignored", at=10_002), head("c", "running"), head("d", "ignored"))
    assert shown(*heads) == [("c", "running")]


def test_event_that_every_workflow_ignored_has_one_row() -> None:
    assert shown(head("a", "ignored"), head("b", "ignored"), head("c", "ignored")) == [("a", "ignored")]


def test_two_workflows_that_work_on_one_event_both_stay_in_their_order() -> None:
    assert shown(head("b", "done"), head("a", "done")) == [("b", "done"), ("a", "done")]


def test_ignored_event_of_another_conversation_or_time_stays() -> None:
    heads = (head("a", "ignored", "elsewhere"), head("a", "ignored", at=50_000), head("b", "done"))
    assert shown(*heads) == [("a", "ignored"), ("a", "ignored"), ("b", "done")]
    # A later question to the same workflow in the thread is another event.
    assert shown(head("b", "ignored", at=11_000), head("b", "done")) == [("b", "ignored"), ("b", "done")]
