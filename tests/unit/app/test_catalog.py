"""The price of a model at the default endpoint is that of the place where OPENAI_BASE_URL says."""

import json
from pathlib import Path

import pytest

from gofer.app.catalog import models, price_list


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
