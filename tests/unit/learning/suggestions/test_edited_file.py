"""The rules of an edit and of its eval case."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.suggestions.edited_file import (
    MOST_CHARACTERS,
    Refused,
    diff_lines,
    edited_text,
    refuse_wrong_case,
)
from gofer.learning.suggestions.proposal import Edit, MustHold
from support.learning.ended_run import ended_run

PROMPT = "agents/w.md"
SKILL = "skills/s/SKILL.md"
TEXTS = {
    PROMPT: "Find the order.\nTell its owner.\nBe kind.\nBe kind.\n",
    SKILL: "---\nname: s\ndescription: How to write.\n---\nWrite plainly.\n",
}


def test_edit_replaces_one_place() -> None:
    after = edited_text(Edit(PROMPT, "Tell its owner.", "Tell its owner in one line."), TEXTS)
    assert after == "Find the order.\nTell its owner in one line.\nBe kind.\nBe kind.\n"


@pytest.mark.parametrize(
    ("edit", "problem"),
    [
        (Edit("agents/w.yaml", "a", "b"), "may not be edited; choose one of agents/w.md, skills/s/SKILL.md"),
        (Edit("agents/../agents/w.md", "Find", "Look"), "may not be edited"),
        (Edit(PROMPT, "Be kind.", "Be brief."), "occurs 2 times"),
        (Edit(PROMPT, "Be rude.", "Be brief."), "occurs 0 times"),
        (Edit(PROMPT, "Find the order.", "Find  the order. "), "changes no word"),
        (Edit(PROMPT, "Find the order.", "x" * (MOST_CHARACTERS + 1)), "may change at most 20 lines and 1500"),
        (Edit(PROMPT, "Find the order.", "a\n" * 25), "adds 26 lines"),
        (Edit(SKILL, "How to write.", "Use it always."), "changes the front matter"),
    ],
)
def test_edit_that_breaks_a_rule_is_refused(edit: Edit, problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        edited_text(edit, TEXTS)


def test_skill_may_change_below_its_front_matter() -> None:
    assert edited_text(Edit(SKILL, "Write plainly.", "Write plainly, in one line."), TEXTS).endswith("one line.\n")


@given(st.text(max_size=40), st.text(max_size=40))
def test_accepted_edit_always_changes_its_file(old: str, new: str) -> None:
    try:
        after = edited_text(Edit(PROMPT, old, new), TEXTS)
    except Refused:
        return
    assert after != TEXTS[PROMPT]


def test_diff_has_the_changed_lines() -> None:
    lines = diff_lines(Edit(PROMPT, "Tell its owner.", "Tell nobody."), TEXTS[PROMPT])
    assert lines[:2] == ["--- a/agents/w.md", "+++ b/agents/w.md"]
    assert [line for line in lines[2:] if line[0] in "+-"] == ["-Tell its owner.", "+Tell nobody."]


@pytest.mark.parametrize(
    ("must", "problem"),
    [
        (MustHold(kind="judge", run="other", ask="?"), "not among the runs; choose one of r"),
        (MustHold(kind="call", run="r", at="1.0", tool="delete_all"), "has no tool 'delete_all'"),
        (MustHold(kind="judge", run="r"), "has no `ask`"),
        (MustHold(kind="contains", run="r"), "has no `texts`"),
        (MustHold(kind="not_contains", run="r"), "has no `texts`"),
    ],
)
def test_case_that_cannot_be_played_is_refused(must: MustHold, problem: str) -> None:
    with pytest.raises(Refused, match=problem):
        refuse_wrong_case(must, {"r": ended_run("r")})
