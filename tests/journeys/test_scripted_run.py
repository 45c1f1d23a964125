"""`gofer run --script`: the offline model plays a file, even when a real model is set up."""

import json
from pathlib import Path

import pytest

from gofer.cli.main import main
from support.app.company import ROOT

EVENT = str(ROOT / "tests" / "events" / "slack_app_mention.json")
SCRIPT = """
- name: look
  steps:
    - calls:
        - slack_add_reaction: {ts: "1795240812.000300", emoji: eyes}
    - text: I looked.
"""


@pytest.fixture(autouse=True)
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("GOFER_DATA", str(tmp_path / "state"))
    for name in ("OPENAI_BASE_URL", "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"):
        # Empty instead of deleted: it also wins over a line of .env in the repository.
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-a-real-model")


def test_script_option_plays_the_file_in_place_of_the_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "look.yaml"
    script.write_text(SCRIPT)
    assert main(["run", "answer-here", "--event", EVENT, "--script", str(script), "--json"]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert (result["answer"], result["tool_calls"]) == ("[offline model] I looked.", 1)
    assert "the offline model: a script, not a language model" in err


@pytest.mark.parametrize(
    ("text", "sentence"),
    [(None, "look.yaml cannot be read"), (b"\xff", "look.yaml cannot be read"), (b"- steps: []", "has no name")],
)
def test_wrong_script_file_is_reported_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: bytes | None, sentence: str
) -> None:
    script = tmp_path / "look.yaml"
    if text is not None:
        script.write_bytes(text)
    assert main(["run", "answer-here", "--event", EVENT, "--script", str(script)]) == 2
    assert sentence in capsys.readouterr().err
