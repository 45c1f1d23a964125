"""The table of cut documents in docs/files.md is what a model reads today."""

from generators.cut_documents import table, written


def test_the_table_of_cut_documents_is_what_a_model_reads() -> None:
    assert table() == written(), (
        "PYTHONPATH=tests python -m generators.cut_documents writes the table anew; review what changed"
    )
