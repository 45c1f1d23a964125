"""`gofer check --models` asks each endpoint whether it has the models that the files name."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from gofer.cli.main import main
from support.http.threaded_server import Requests, serving

ANSWER = {"model": "gpt-5", "choices": [{"message": {"role": "assistant", "content": "y"}, "finish_reason": "length"}]}
UNKNOWN = {"error": {"message": "The model does not exist", "type": "invalid_request_error", "code": "model_not_found"}}


class Provider(Requests):
    """An endpoint with one model, and others that fail otherwise."""

    def take(self) -> None:
        match json.loads(self.body()):
            case {"model": "gpt-5", "max_completion_tokens": 1}:
                self.reply(200, json.dumps(ANSWER).encode())
            case {"model": "no-rights"}:
                self.reply(401, b'{"error": {"message": "Incorrect API key"}}')
            case {"model": "no-api"}:
                self.reply(404, b"<html>nothing here</html>")
            case {"model": "busy"}:
                self.reply(503, b"{}")
            case _:
                self.reply(404, json.dumps(UNKNOWN).encode())


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with serving(Provider) as url:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{url}/v1")
        monkeypatch.chdir(tmp_path)
        (tmp_path / "agents").mkdir()
        yield tmp_path / "agents"


def write(agents: Path, models: str, model: str) -> None:
    (agents / "defaults.yaml").write_text(models)
    (agents / "w.yaml").write_text(f'description: d\nowner: "#o"\nwhen: [slack.mention]\nmodel: {model}\n')
    (agents / "w.md").write_text("Do it.\n")


def test_model_that_its_endpoint_does_not_have_is_a_mistake_only_if_asked(
    agents: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(agents, "models:\n  default: gpt-5\n  judge: [gpt-5, Judge-9]\n", "GPT-5")
    assert main(["check", "agents"]) == 0
    capsys.readouterr()
    assert main(["check", "--models", "agents"]) == 1
    said = [line for line in capsys.readouterr().out.splitlines() if "Hint:" not in line]
    has = "a model that it has, as its provider spells it."
    roles = "a role of defaults.yaml (`default`, `judge`)"
    assert said == [
        f"agents/defaults.yaml:3:18: The endpoint `openai` has no model `Judge-9`. Write the name of {has}",
        f"agents/w.yaml:4:8: The endpoint `openai` has no model `GPT-5`. Write {roles}, or {has}",
    ]


@pytest.mark.parametrize("model", ["default", "gpt-5", "no-rights", "no-api", "busy"])
def test_other_failure_of_an_endpoint_is_no_mistake_of_the_name(
    agents: Path, capsys: pytest.CaptureFixture[str], model: str
) -> None:
    write(agents, "models: {default: gpt-5}\n", model)
    assert main(["check", "--models", "agents"]) == 0
    assert "gpt-5" in capsys.readouterr().out


def test_check_of_models_without_an_endpoint_prints_the_table(
    agents: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL")
    write(agents, "models: {default: none-such}\n", "default")
    assert main(["check", "--models", "agents"]) == 0
    assert "none-such" in capsys.readouterr().out


def test_folder_with_a_file_of_another_ending_only_is_checked(agents: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (agents / "w.yml").write_text("description: d\n")
    assert main(["check", "agents"]) == 1
    assert capsys.readouterr().out == (
        "agents/w.yml:1:1: Gofer does not read files that end in .yml. Rename it to `w.yaml`.\n"
    )
