"""`gofer check`, `gofer explain` and `gofer manifest` at a terminal."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from support.app.command_line import EVENT, gofer

pytestmark = pytest.mark.usefixtures("terminal")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small company's repository, with mistakes in two files."""
    folder = tmp_path / "agents"
    folder.mkdir()
    (folder / "defaults.yaml").write_text("models: {default: gpt-5}\n")
    (folder / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\ntols: []\nreply: thred\n')
    (folder / "w.md").write_text("Use `slack_read_threat`.\n")
    monkeypatch.chdir(tmp_path)
    return folder


WRONG = [
    "agents/w.md:1:6: There is no tool `slack_read_threat`. Write `slack_read_thread`.",
    "agents/w.yaml:4:1: `tols` is not a key here. Write `tools`.",
    "agents/w.yaml:5:8: `reply` cannot be `thred`. Write `thread`.",
]


def test_check_lists_every_mistake_with_file_line_and_column(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    code, out, err = gofer(capsys, "check")
    assert (code, out.splitlines(), err) == (1, WRONG, "3 mistakes in 2 files.\n")
    assert gofer(capsys, "check", ".", "agents", "agents/w.yaml")[1].splitlines() == WRONG
    assert gofer(capsys, "check", "agents/w.md")[1].splitlines() == WRONG[:1]


def test_check_prints_only_json_or_only_sarif(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    code, out, err = gofer(capsys, "check", "--json")
    assert (code, err) == (1, "")
    assert json.loads(out)[1] == {
        "file": "agents/w.yaml",
        "line": 4,
        "column": 1,
        "rule": "unknown-key",
        "level": "error",
        "message": "`tols` is not a key here.",
        "hint": "Write `tools`.",
    }
    code, out, err = gofer(capsys, "check", "--sarif")
    assert (code, err) == (1, "")
    (run,) = json.loads(out)["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["unknown-tool", "unknown-key", "unknown-value"]


def test_check_prints_the_worst_case_of_each_workflow(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = gofer(capsys, "check", "--worst")
    assert code == 0
    (found,) = (line for line in out.splitlines() if line.startswith("review-rfc: "))
    assert "Without asking, it calls `notion_add_comment` at most 12 times in a run" in found
    assert {"answer-here", "welcome-channel"} <= {line.partition(": ")[0] for line in out.splitlines()}
    (alone,) = gofer(capsys, "check", "--worst", "agents/review-rfc.yaml")[1].splitlines()
    assert alone == found


def test_check_passes_a_repository_without_mistakes(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "check")
    assert (code, err.partition(".")[0]) == (0, "No mistakes")
    # The criteria of the shipped evals are advisory until people label examples.
    assert [line for line in out.splitlines() if "so it never blocks" not in line] == []
    code, out, _ = gofer(capsys, "check", "--json")
    assert code == 0
    assert {found["rule"] for found in json.loads(out)} <= {"unlabelled-criterion"}


@pytest.mark.parametrize("path", ["nowhere", "docs", "README.md", "a\0b"])
def test_check_refuses_a_path_without_workflows(capsys: pytest.CaptureFixture[str], path: str) -> None:
    code, out, err = gofer(capsys, "check", path)
    assert (code, out) == (2, "")
    assert err.startswith("gofer: There is no ")


def test_run_refuses_workflows_with_mistakes(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    code, out, err = gofer(capsys, "run", "w", "--event", EVENT)
    assert (code, out) == (2, "")
    assert err.splitlines() == [
        "gofer: 3 mistakes are in the workflow files; correct each of them.",
        *(f"  {repository.parent}/{line}" for line in WRONG),
    ]


def test_explain_prints_one_line_per_payload_and_stores_no_state(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    code, out, err = gofer(capsys, "explain", "--json", "--source", "slack", EVENT, EVENT)
    assert (code, err) == (0, "")
    first, second = (json.loads(line) for line in out.splitlines())
    assert first == second
    assert (first["file"], first["kind"], first["workflows"]) == (EVENT, "slack.mention", ["answer-here"])
    assert not (tmp_path / "state").exists()


def test_explain_reports_unreadable_payloads_and_explains_the_others(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "explain", "--json", "--source", "slack", "missing.json", "docs", "README.md", EVENT)
    assert (code, err) == (2, "")
    told = [json.loads(line) for line in out.splitlines()]
    assert [line["error"] for line in told] == [
        "The file cannot be read (No such file or directory).",
        "The file cannot be read (Is a directory).",
        "The body is not JSON.",
        None,
    ]


def test_explain_names_the_workflow_of_a_payload_in_words(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "deleted.json").write_text(Path(EVENT).read_text().replace('"app_mention"', '"channel_archive"'))
    code, out, err = gofer(
        capsys, "explain", "--source", "slack", EVENT, str(tmp_path / "deleted.json"), "missing.json"
    )
    assert (code, err) == (2, "")
    first, starts, key, second, nothing, missing, may = out.splitlines()
    assert first.startswith(f"{EVENT}: slack.mention by U")
    assert starts == "  starts answer-here"
    assert key.startswith("  a second delivery with this key is the same event: slack.mention:C")
    assert second.startswith(f"{tmp_path}/deleted.json: ")
    assert nothing.startswith("  starts nothing: ")
    assert missing == "missing.json: The file cannot be read (No such file or directory)."
    assert may.startswith(
        "answer-here: It is started by `slack.mention` and `slack.direct`, for members and events that name no person."
    )


def test_explain_reads_a_payload_from_stdin() -> None:
    words = [sys.executable, "-m", "gofer", "explain", "--json", "--source", "slack", "-"]
    done = subprocess.run(words, input=Path(EVENT).read_bytes(), capture_output=True, check=True)
    told = json.loads(done.stdout)
    assert (told["file"], told["workflows"], done.stderr) == ("-", ["answer-here"], b"")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "Say how Slack reaches Gofer"),
        (("--socket", "--url", "https://gofer.example.com"), "Say how Slack reaches Gofer"),
        (("--url", "http://gofer.example.com"), "--url must be the https address"),
        (("--url", "https://gofer.example.com:x"), "--url must be the https address"),
        (("--socket", "--name", "a name that is much too long for Slack"), "--name must have 1 to 35 characters"),
    ],
)
def test_manifest_that_slack_would_refuse_is_not_printed(
    capsys: pytest.CaptureFixture[str], words: tuple[str, ...], sentence: str
) -> None:
    code, out, err = gofer(capsys, "manifest", *words)
    assert (code, out) == (2, "")
    assert err.startswith(f"gofer: {sentence}")


def test_manifest_is_printed_alike_as_yaml_and_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    words = ("manifest", "--url", "https://gofer.example.com/slack/events", "--name", "Helper")
    as_yaml, as_json = gofer(capsys, *words)[1], gofer(capsys, *words, "--json")[1]
    made = json.loads(as_json)
    assert yaml.safe_load(as_yaml) == made
    assert made["features"]["bot_user"]["display_name"] == "Helper"
    assert made["settings"]["event_subscriptions"]["request_url"] == "https://gofer.example.com/slack/events"
