"""Limits under `checks` that no run can exceed."""

from pathlib import Path

import pytest

from gofer.check.folder import check_folder

FILE = "description: d\nowner: '#o'\nwhen: [slack.mention]\n"


def mistakes(tmp_path: Path, text: str, defaults: str = "") -> list[str]:
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "w.yaml").write_text(FILE + text)
    (folder / "w.md").write_text("Answer.")
    if defaults:
        (folder / "defaults.yaml").write_text(defaults)
    return [
        f"{one.place.line}: {one.message} {one.hint}"
        for one in check_folder(folder, {})
        if one.rule == "check-never-fails"
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "limits: {llm_calls: 14}\nchecks:\n  llm-call-budget: {limit: 14, measured_p95: 9}\n",
            (
                "6: The check llm-call-budget can never fail: its limit is 14, and `limits: llm_calls` ends runs at "
                "14. Write a limit below 14, or raise the limit of the runs."
            ),
        ),
        (
            "limits: {minutes: 1}\nchecks:\n  execution-time: {limit: 90, measured_p95: 41}\n",
            (
                "6: The check execution-time can never fail: its limit is 90, and `limits: minutes` ends runs at 60 "
                "seconds. Write a limit below 60, or raise the limit of the runs."
            ),
        ),
    ],
)
def test_limit_of_a_check_at_or_above_the_limit_of_the_run_is_a_mistake(
    tmp_path: Path, text: str, message: str
) -> None:
    assert mistakes(tmp_path, text) == [message]


def test_limit_of_a_check_is_compared_with_the_limits_of_the_defaults(tmp_path: Path) -> None:
    text = "checks:\n  llm-call-budget: {limit: 14, measured_p95: 9}\n"
    assert mistakes(tmp_path, text, "limits: {llm_calls: 20}\n") == []


def test_default_limit_that_no_run_can_exceed_is_no_mistake(tmp_path: Path) -> None:
    assert mistakes(tmp_path, "limits: {llm_calls: 4, minutes: 0.4}\n") == []
