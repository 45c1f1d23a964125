"""Emoji for feedback in `defaults.yaml`."""

from pathlib import Path

import pytest

from gofer.check.folder import check_folder
from gofer.sources.workflow_files import load_catalog
from gofer.workflows.feedback_emoji import FeedbackEmoji
from gofer.workflows.routes import read_routes


def folder_with(tmp_path: Path, defaults: str) -> Path:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "defaults.yaml").write_text(f"models: {{default: m}}\n{defaults}\n")
    (folder / "w.yaml").write_text("description: d\nowner: '#o'\nwhen: [slack.mention]\n")
    (folder / "w.md").write_text("Answer.")
    return folder


def mistakes(tmp_path: Path, defaults: str) -> list[str]:
    found = [one for one in check_folder(folder_with(tmp_path, defaults), {}) if one.file.name == "defaults.yaml"]
    return [f"{one.place.line}: {one.message} {one.hint}" for one in found if "emoji" in one.message]


@pytest.mark.parametrize(
    ("feedback", "mistake"),
    [
        (
            "{good: [heart, '+1'], bad: heart}",
            (
                "2: The emoji `heart` is in both lists, so it says nothing about an answer. "
                "Leave it in `good` or in `bad`."
            ),
        ),
        (
            "{good: punch, bad: facepunch}",
            (
                "2: The emoji `punch` is in both lists, so it says nothing about an answer. "
                "Leave it in `good` or in `bad`."
            ),
        ),
        (
            "{bad: [no_entry]}",
            "2: The emoji `no_entry` stops a run, so it cannot be feedback on an answer. Take it out of the list.",
        ),
        (
            "{bad: ':-1:'}",
            (
                "2: `:-1:` is not the name of an emoji. Write the name of the emoji without colons and without a skin "
                "tone, such as `thumbsup`."
            ),
        ),
    ],
)
def test_emoji_that_cannot_be_feedback_is_a_mistake(tmp_path: Path, feedback: str, mistake: str) -> None:
    assert mistakes(tmp_path, f"feedback: {feedback}") == [mistake]


@pytest.mark.parametrize("feedback", ["{good: [], bad: []}", "{good: heart}", "{}"])
def test_other_lists_of_emoji_are_accepted(tmp_path: Path, feedback: str) -> None:
    assert mistakes(tmp_path, f"feedback: {feedback}") == []


def test_emoji_reach_receivers_through_the_routes(tmp_path: Path) -> None:
    compiled = load_catalog(folder_with(tmp_path, "feedback: {good: [Heart], bad: []}")).routes()
    routes = read_routes(compiled)
    assert routes.feedback == FeedbackEmoji(good=("heart",), bad=())
    assert (routes.feedback.verdict("heart"), routes.feedback.verdict("-1")) == ("good", None)
    assert routes.workflows("feedback") == ()


def test_emoji_counts_by_each_of_its_names(tmp_path: Path) -> None:
    folder = folder_with(tmp_path, "feedback: {good: [punch, de\u0301ja\u0300], bad: thumbsdown}")
    verdict = read_routes(load_catalog(folder).routes()).feedback.verdict
    given = [verdict(emoji) for emoji in ("facepunch::skin-tone-2", "déjà", "-1", "+1")]
    assert given == ["good", "good", "bad", None]


def test_default_emoji_are_not_in_the_routes(tmp_path: Path) -> None:
    compiled = load_catalog(folder_with(tmp_path, "")).routes()
    assert "feedback" not in compiled
    assert read_routes(compiled).feedback.verdict("-1::skin-tone-6") == "bad"
