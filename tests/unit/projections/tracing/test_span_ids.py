"""The header `traceparent` of requests to models."""

import re

from gofer.journal import entries as e
from gofer.projections.tracing.span_ids import span_id, subagent_chat_id, trace_id, traceparent

REQUEST = e.Recorded(7, 0, 0, "me", e.LlmRequest("6.0", "ab", {}, ""))
QUESTION = e.Recorded(7, 0, 0, "me", e.SubagentStarted("0:subagent.s:ab:1", "s", "", {}))


def test_traceparent_has_the_form_of_w3c_with_the_ids_of_run_and_entry() -> None:
    header = traceparent("run1", REQUEST, "01")
    assert re.fullmatch("00-[0-9a-f]{32}-[0-9a-f]{16}-01", header)
    assert header == f"00-{trace_id('run1').hex()}-{span_id('run1', '7.0').hex()}-01"


def test_traceparent_of_a_subagent_run_has_the_trace_of_its_root_and_a_span_of_its_own() -> None:
    root = traceparent("run1", REQUEST, "00").split("-")
    child = traceparent("run1.63aa5f69db0063aedcb2", REQUEST, "00").split("-")
    assert child[1] == root[1]
    assert child[2] != root[2]


def test_traceparent_of_a_one_shot_subagent_is_not_the_span_of_the_subagent() -> None:
    span = traceparent("run1", QUESTION, "00").split("-")[2]
    assert span == subagent_chat_id("run1", "7.0").hex()
    assert span != span_id("run1", "7.0").hex()
