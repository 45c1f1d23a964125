"""Tables of refusals: the meaning of a code, and which codes are logged for the operator."""

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


def test_refusal_code_without_an_entry_has_the_meaning_of_unknown_codes() -> None:
    assert TABLE.of("gone").sentence == "It is gone."
    assert TABLE.of("new_one") == TABLE.unknown


@pytest.mark.parametrize(("code", "access"), [("expired", "credential"), ("no_scope", "permission"), ("gone", "")])
def test_refusals_log_only_codes_for_the_operator(code: str, access: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR):
        TABLE.log(code, "Slack refuses chat.postMessage.")
    assert TABLE.access(code) == access
    assert [record.getMessage() for record in caplog.records] == ["Slack refuses chat.postMessage."] * bool(access)
