"""What people saw of a recorded run, as the tools of its calls state it."""

from dataclasses import replace
from pathlib import Path

from gofer.app.settings import read_settings
from gofer.app.toolbox import build_tools
from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.goldens.golden_reader import read_golden
from gofer.evals.goldens.seen import visible_calls
from gofer.projections.progress import project
from gofer.values.visible import VisibleKind

GOLDEN = Path(__file__).parents[4] / FOLDER / "ticket-from-a-reaction.yaml"
TOOLS = build_tools(read_settings({}))


def kinds(*, create: VisibleKind | None = "issue") -> list[str]:
    """Return the kinds of the objects that the recorded run showed, if creating an issue shows `create`."""
    turn = read_golden(GOLDEN).turns[0]
    entries = turn.entries(turn.run)
    tools = {**TOOLS, "jira_create_issue": replace(TOOLS["jira_create_issue"], shows=create)}
    return [one.kind for one in visible_calls(entries, project(entries), tools)]


def test_kind_is_stated_by_the_definition_of_the_tool_and_not_by_its_name() -> None:
    assert "issue" in kinds()
    assert "page" in kinds(create="page")
    assert "issue" not in kinds(create=None)


def test_calls_of_unknown_tools_show_no_object() -> None:
    turn = read_golden(GOLDEN).turns[0]
    entries = turn.entries(turn.run)
    assert visible_calls(entries, project(entries), {}) == []


def test_shipped_golden_lists_the_objects_that_its_recording_shows() -> None:
    for path in sorted(GOLDEN.parent.glob("*.yaml")):
        read = read_golden(path)
        for turn, recorded in zip(read.golden.turns, read.turns, strict=True):
            entries = recorded.entries(recorded.run)
            visible = visible_calls(entries, project(entries), TOOLS)
            assert [(one.kind, one.place) for one in visible] == [(one.kind, one.place) for one in turn.seen]
