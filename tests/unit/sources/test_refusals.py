"""Tables of refusals: what a code means, and which ones the operator reads of in the log."""

import logging

import pytest

from gofer.sources.refusals import Refusal, Refusals

TABLE = Refusals(
    "slack",
    {
        "expired": Refusal("operate", "Renew it."),
        "no_scope": Refusal("operate", "Allow it."),
        "gone": Refusal("tell", "It is gone."),
    },
    unknown=Refusal("tell", "No reason."),
    credential=frozenset({"expired"}),
)


def test_a_code_that_is_not_listed_has_the_meaning_of_unknown_ones() -> None:
    assert TABLE.of("gone").sentence == "It is gone."
    assert TABLE.of("new_one") == TABLE.unknown


@pytest.mark.parametrize(("code", "access"), [("expired", "credential"), ("no_scope", "permission"), ("gone", "")])
def test_only_what_the_operator_can_act_on_is_logged(code: str, access: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        TABLE.log(code, "Slack refuses chat.postMessage.")
    assert TABLE.access(code) == access
    assert [record.getMessage() for record in caplog.records] == ["Slack refuses chat.postMessage."] * bool(access)
