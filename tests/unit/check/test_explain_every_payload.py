"""The reviewed table of every payload in the tests and its one reason."""

from generators.explained import TABLE, table


def test_each_payload_in_the_tests_has_the_reason_that_was_reviewed() -> None:
    assert table() == TABLE.read_text(), (
        "review what changed: PYTHONPATH=tests python -m generators.explained; git diff"
    )


def test_no_two_payloads_of_the_table_have_the_same_name() -> None:
    names = [line.split(" | ")[0] for line in TABLE.read_text().splitlines() if line.startswith("| ")]
    payloads = [name for name in names if name != "| payload"]
    assert len(payloads) == len(set(payloads))
    assert len(payloads) > 400
