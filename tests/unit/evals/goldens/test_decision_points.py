"""Decision points: the history before a call, and the calls of the next answer."""

from pathlib import Path

import pytest

from gofer.evals.eval_file import CallExpectation
from gofer.evals.goldens.decision_points import decision_before
from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.goldens.golden_reader import read_golden
from gofer.journal.entries import Recorded
from gofer.values.errors import ConfigError

GOLDEN = Path(__file__).parents[4] / FOLDER / "ticket-from-a-reaction.yaml"


def journal() -> list[Recorded]:
    turn = read_golden(GOLDEN).turns[0]
    return [*turn.entries(turn.run)]


def test_history_has_the_calls_before_the_step_with_their_results() -> None:
    decision, following = decision_before(journal(), "2.0")
    assert [[call.tool for call in turn.calls] for turn in decision.history] == [["slack_get_permalink", "jira_search"]]
    assert decision.history[0].calls[1].arguments == {"project": "PAY", "text": "refund twice"}
    assert decision.history[0].calls[1].text
    (expected,) = following
    assert isinstance(expected, dict)
    assert isinstance(expected["jira_create_issue"], CallExpectation)
    # Long texts are free; short arguments must be the same.
    assert expected["jira_create_issue"].arguments["project"] == "PAY"
    assert "description" not in expected["jira_create_issue"].arguments


def test_first_step_has_no_history() -> None:
    decision, following = decision_before(journal(), "1")
    assert decision.history == ()
    assert len(following) == 2


@pytest.mark.parametrize("call", ["9.0", "0", "answer/1", "", "1.7"])
def test_unknown_call_is_refused_with_the_known_ones(call: str) -> None:
    with pytest.raises(ConfigError, match=r"the calls of the run are 1\.0, 1\.1, 2\.0, 3\.0"):
        decision_before(journal(), call)
