"""`gofer check` of the mistakes that authors make: the sentences of `tests/support/workflows/author_mistakes.yaml`."""

from pathlib import Path

import pytest

from gofer.sources.triggers import TRIGGER_KINDS
from gofer.workflows.when import Conditions
from support.workflows.author_mistakes import TABLE, Row, found


def kind_of(row: Row) -> str:
    return row["kind"]


def said(folder: Path, row: Row) -> list[str]:
    agents = folder / "agents"
    return [str(mistake).removeprefix(f"{agents}/") for mistake in found(agents, row)]


@pytest.mark.parametrize("row", [*TABLE["seen"], *TABLE["others"]], ids=kind_of)
def test_each_mistake_of_an_author_has_its_reviewed_sentences_with_lines(tmp_path: Path, row: Row) -> None:
    assert said(tmp_path, row) == row["says"]
    assert row["says"]


@pytest.mark.parametrize("row", TABLE["understood"], ids=kind_of)
def test_odd_and_correct_files_have_no_mistake_and_no_hint(tmp_path: Path, row: Row) -> None:
    assert said(tmp_path, row) == []


def test_table_holds_each_kind_once() -> None:
    kinds = [row["kind"] for rows in TABLE.values() for row in rows]
    assert len({*kinds}) == len(kinds)
    assert len(TABLE["seen"]) >= 46


def test_each_odd_word_belongs_to_a_condition_of_its_trigger() -> None:
    forms = [kind.form for kind in TRIGGER_KINDS if issubclass(kind.form, Conditions)]
    named = {(form, name) for form in forms for name in (*form.ODD, *form.KNOWN)}
    assert {name for form, name in named if name not in form.model_fields} == set()
    assert {(form.__name__, name) for form, name in named} >= {("GithubPush", "branch"), ("SlackReaction", "emoji")}
