"""The reviewed table of every payload in the tests with its reason."""

from generators.explained import TABLE, table


def test_explanations_of_all_payloads_equal_the_reviewed_table() -> None:
    assert table() == TABLE.read_text(), (
        "review what changed: PYTHONPATH=tests python -m generators.explained; git diff"
    )


def test_payload_names_in_the_reviewed_table_are_unique() -> None:
    names = [line.split(" | ")[0] for line in TABLE.read_text().splitlines() if line.startswith("| ")]
    payloads = [name for name in names if name != "| payload"]
    assert len(payloads) == len(set(payloads))
    assert len(payloads) > 400
