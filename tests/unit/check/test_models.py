"""`gofer check --models`: the table of models, and the output for mistakes."""

import argparse
from pathlib import Path

import pytest

from gofer.check.models import model_table
from gofer.cli.check import execute, options
from gofer.models.served_model import unlisted


def agents(tmp_path: Path, defaults: str) -> Path:
    (tmp_path / "w.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.mention]\n')
    (tmp_path / "w.md").write_text("Do it.")
    (tmp_path / "defaults.yaml").write_text(defaults)
    return tmp_path


def check(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    options(parser)
    return execute(parser.parse_args(arguments))


def test_check_models_prints_a_mistake_once_and_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = agents(tmp_path, "models: {default: {name: gpt-5, window: 128k}}\n")
    assert check("--models", str(folder)) == 1
    printed = capsys.readouterr()
    assert (printed.out + printed.err).count("128k") == 1
    assert "USD a million tokens" not in printed.out


def test_check_models_lists_a_model_once_per_endpoint(tmp_path: Path) -> None:
    (tmp_path / "v.yaml").write_text('description: d\nowner: "#o"\nwhen: [slack.direct]\nmodel: gpt-5\n')
    (tmp_path / "v.md").write_text("Do it.")
    folder = agents(
        tmp_path,
        'endpoints: {ours: {base_url: "https://models.example.com/v1"}}\n'
        "models: {default: {name: gpt-5, endpoint: ours, window: 8192}, small: {name: own, window: 9000}}\n",
    )
    rows = [line.split()[:3] for line in model_table(folder, unlisted).splitlines()[1:]]
    assert rows == [["default", "gpt-5", "ours"], ["small", "own", "openai"], ["-", "gpt-5", "openai"]]
