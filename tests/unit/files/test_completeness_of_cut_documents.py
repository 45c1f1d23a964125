"""The table of cut documents in docs/files.md."""

from generators.cut_documents import table, written


def test_documented_table_of_cut_documents_matches_the_answers_of_today() -> None:
    assert table() == written(), (
        "PYTHONPATH=tests python -m generators.cut_documents writes the table anew; review what changed"
    )
