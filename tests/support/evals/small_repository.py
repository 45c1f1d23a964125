"""A repository with one workflow, `pager`, and an eval whose answers come from scripts."""

import json
import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from support.app.company import ROOT

WORKFLOW = """\
description: Restart a service.
owner: "#ops"
when: [slack.mention]
tools: [slack_read_thread]
"""
MENTION = str(ROOT / "tests" / "events" / "slack_app_mention.json")


class SmallRepository:
    """A repository in a folder."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "agents").mkdir()
        (path / "evals" / "scripts").mkdir(parents=True)
        for name in ("defaults.yaml", "preamble.md"):
            shutil.copy(ROOT / "agents" / name, path / "agents")
        (path / "agents" / "pager.yaml").write_text(WORKFLOW)
        shutil.copy(MENTION, path / "evals" / "mention.json")
        self.prompt("Help.")
        self.answer("Restarted.")

    def prompt(self, text: str) -> None:
        """Write the prompt of the workflow."""
        (self.path / "agents" / "pager.md").write_text(text)

    def price(self, usd: float) -> None:
        """Set the price of the model, in US dollars per million tokens."""
        defaults = self.path / "agents" / "defaults.yaml"
        model = f"{{name: gpt-5.4-mini, price: {{input: {usd}, output: {usd}}}}}"
        defaults.write_text(re.sub(r"default: \[.*?\]", f"default: {model}", defaults.read_text()))

    def answer(self, text: str) -> None:
        """Write the answer of the script."""
        scripts = [{"name": "any", "steps": [{"calls": [{"slack_read_thread": {}}]}, {"text": text}]}]
        (self.path / "evals" / "scripts" / "pager.yaml").write_text(yaml.safe_dump(scripts))

    def cases(self, *cases: Mapping[str, Any], **keys: Any) -> None:
        """Write the eval; each case gets the mention as its trigger."""
        whole = [{"trigger": {"payload": "mention.json"}, **case} for case in cases]
        text = yaml.safe_dump({"workflow": "pager", "world": "demo", "cases": whole, **keys}, sort_keys=False)
        (self.path / "evals" / "pager.yaml").write_text(text)


def says(name: str, text: str) -> Mapping[str, Any]:
    """Return a case that expects a text in the answer."""
    return {"name": name, "expect": {"output": {"contains_all": [text]}, "checks": "none"}}


def report(path: Path) -> Mapping[str, Any]:
    """Return the result in a JSON report."""
    return json.loads(path.read_text())["result"]
