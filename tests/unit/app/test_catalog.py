"""The default endpoint is where OPENAI_BASE_URL says, and is asked in the format that OPENAI_API_FORMAT says."""

import json
from pathlib import Path

import pytest

from gofer.app.catalog import mistakes, models, price_list


@pytest.mark.parametrize(
    ("url", "said"),
    [("", "0.75, 0.075, 4.5"), ("http://10.0.0.7:8000/v1", "free"), ("https://gateway.example.com/v1", "unknown")],
)
def test_check_and_publish_price_the_default_endpoint_by_its_address(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    (tmp_path / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    assert f" {said}" in models(tmp_path)
    (tmp_path / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\n')
    (tmp_path / "w.md").write_text("Help.")
    (row,) = json.loads(price_list(tmp_path))
    assert (row["name"], row["window"]) == ("gpt-5.4-mini", 400_000)
    assert (row["price"] is None) == (said == "unknown")


@pytest.mark.parametrize(
    ("url", "api", "said"),
    [
        ("", "", "responses"),
        ("", "chat_completions", "chat_completions"),
        ("https://api.anthropic.com/v1", "", "messages"),
        ("https://gateway.example.com/v1", "", "chat_completions"),
        ("https://gateway.example.com/v1", "messages", "messages"),
    ],
)
def test_check_shows_the_format_of_the_default_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, api: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_FORMAT", api)
    (tmp_path / "defaults.yaml").write_text("models: {default: gpt-5.5}\n")
    assert models(tmp_path).splitlines()[1].split()[3] == said


@pytest.mark.parametrize(
    ("url", "api", "wrong"),
    [("", "", False), ("", "chat_completions", True), ("https://gateway.example.com/v1", "chat_completions", False)],
)
def test_check_knows_the_refusals_of_the_default_endpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str, api: str, *, wrong: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    monkeypatch.setenv("OPENAI_API_FORMAT", api)
    (tmp_path / "defaults.yaml").write_text("models: {default: gpt-5.5}\n")
    (tmp_path / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\n')
    (tmp_path / "w.md").write_text("Help.")
    found = [one.hint for one in mistakes(tmp_path) if one.rule == "refused-by-vendor"]
    remedy = "Write OPENAI_API_FORMAT=responses, or `reasoning: {effort: none}` for the model."
    assert found == ([remedy] if wrong else [])
