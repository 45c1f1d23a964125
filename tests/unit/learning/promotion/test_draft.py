"""The draft of a workflow: source that is formatted, checks clean, and reads what the recorded runs read."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from gofer.learning.promotion.draft import Draft, draft
from gofer.learning.promotion.observed_run import ObservedRun
from gofer.learning.promotion.promotion import promote
from gofer.sources.workflow_files import WorkflowForm as Workflow
from gofer.values.events import Event
from gofer.workflows.yaml_source import read_source
from support.app.company import ROOT
from support.learning.observed_runs import made, observed, orders

FILE = "description: d\nwhen:\n  - webhook: {name: h}\ntools: [find, tell]\n"
WORKFLOW = Workflow(description="d", owner="#o", when=("slack.mention",))


def drafted(folder: Path, runs: Sequence[ObservedRun], **keys: object) -> Draft:
    file = folder / "w-x.yaml"
    file.write_text(FILE)
    workflow = WORKFLOW.model_copy(update=keys)
    return draft(promote("w-x", runs), workflow, read_source(file), "Look with `find_it`, and `tell`.\n")


def is_formatted(source: str) -> bool:
    """Return whether ruff accepts a script with the rules of this repository, and would not format it otherwise."""
    name = ("--stdin-filename", "coordinators/w_x.py", "-")
    for words in (("check", "--quiet"), ("format", "--check", "--quiet")):
        ruff = [sys.executable, "-m", "ruff", *words, *name]
        ended = subprocess.run(ruff, input=source.encode(), cwd=ROOT, check=False)
        if ended.returncode:
            return False
    return True


def test_draft_has_script_subagent_and_changed_workflow(tmp_path: Path) -> None:
    made_draft = drafted(tmp_path, orders())
    assert list(made_draft.new) == [
        "coordinators/w_x.py",
        "subagents/w-x-judgement.yaml",
        "subagents/w-x-judgement.md",
    ]
    assert "+subagents: [w-x-judgement]\n" in made_draft.diff
    assert made_draft.workflow.startswith("description: d\nwhen:\n  - webhook: {name: h}\ncoordinator: script\n")
    subagent = yaml.safe_load(made_draft.new["subagents/w-x-judgement.yaml"])
    assert subagent["output"]["required"] == ["tell_mood"]
    prompt = made_draft.new["subagents/w-x-judgement.md"]
    assert "- tell_mood: The argument mood of the first call of tell." in prompt
    assert prompt.endswith("Look with find_it, and `tell`.\n")


def test_script_asks_for_the_judgement_before_the_first_call_with_one(tmp_path: Path) -> None:
    source = drafted(tmp_path, orders()).new["coordinators/w_x.py"]
    assert is_formatted(source)
    assert source.endswith(
        """
    body = json.loads(run.event.text)
    the_id = body["id"]
    city = body["city"]
    find = await run.call("find", id=the_id, limit=5)
    find_name = find["owner"]["name"]
    # These values were judgements of the model in the recorded runs.
    question = {
        "event": {"text": run.event.text, "facts": dict(run.event.facts)},
        "call 1 find": find,
    }
    decided = json.loads(await run.subagent("w-x-judgement", json.dumps(question, indent=1)))
    await run.call("tell", who=find_name, text=f"Order {the_id} to {city}.", mood=decided["tell_mood"])
    return "Done."
"""
    )


def test_script_without_a_judgement_asks_no_subagent(tmp_path: Path) -> None:
    runs = [observed(number, {"id": f"o-{number}"}, made("find", id=f"o-{number}")) for number in range(9)]
    made_draft = drafted(tmp_path, runs)
    assert list(made_draft.new) == ["coordinators/w_x.py"]
    assert "subagent" not in made_draft.diff
    assert is_formatted(made_draft.new["coordinators/w_x.py"])


@pytest.mark.parametrize("reply", ["thread", "none"])
def test_own_words_as_the_answer_are_a_judgement_only_if_posted(tmp_path: Path, reply: str) -> None:
    runs = [observed(number, {"id": number}, made("find"), answer=f"words {number * 7}") for number in range(9)]
    source = drafted(tmp_path, runs, reply=reply).new["coordinators/w_x.py"]
    assert is_formatted(source)
    expected = {"thread": '    return decided["answer"]\n', "none": "    return None\n"}
    assert source.endswith(expected[reply])


def notices() -> Sequence[ObservedRun]:
    """Return runs that find an issue in a text, look up its people, and tell each of them in words of a model."""
    runs: list[ObservedRun] = []
    for number in range(9):
        people = [{"name": f"Owner {number}-{index}"} for index in range(1 + number % 3)]
        calls = [
            made("tell", who=one["name"], text=f"{number * 7} words {index}", about=f"OPS-{number}")
            for index, one in enumerate(people)
        ]
        result = {"text": f"Found.\nIssue: OPS-{number}", "people": people}
        found = made("find", result, key=f"OPS-{number}")
        runs.append(observed(number, f"Please do OPS-{number} now", found, *calls))
    return runs


def test_loop_and_part_of_a_text_are_written(tmp_path: Path) -> None:
    source = drafted(tmp_path, notices()).new["coordinators/w_x.py"]
    assert is_formatted(source)
    assert '    issue_key = part_of(run.event.text, r"\\b([A-Z][A-Z0-9]+-[0-9]+)\\b")\n' in source
    assert "    for number, item in enumerate(find_people):\n" in source
    assert 'text=decided["tell_each_text"][number]' in source


@dataclass
class Repeated:
    """The `run` of a script, with the results and judgements of a recorded run."""

    recorded: ObservedRun
    asked: list[tuple[str, bytes]] = field(default_factory=list[tuple[str, bytes]])

    @property
    def event(self) -> Event:
        return self.recorded.event

    async def call(self, tool: str, /, **arguments: object) -> Mapping[str, object]:
        answered = self.recorded.calls[len(self.asked)]
        self.asked.append(made(tool, **arguments).signature)
        return answered.result

    async def subagent(self, name: str, prompt: str) -> str:
        told = [call.arguments for call in self.recorded.calls if call.tool == "tell"]
        answers = {"tell_mood": told[0].get("mood"), "tell_each_text": [one["text"] for one in told]}
        return json.dumps(answers)


@pytest.mark.anyio
@pytest.mark.parametrize("runs", [orders(), notices()])
async def test_script_repeats_the_calls_of_each_run(tmp_path: Path, runs: Sequence[ObservedRun]) -> None:
    names: dict[str, Any] = {}
    exec(drafted(tmp_path, runs).new["coordinators/w_x.py"], names)
    for run in runs:
        repeated = Repeated(run)
        assert await names["coordinate"](repeated) == run.answer
        assert repeated.asked == [call.signature for call in run.calls]


def test_long_constants_are_formatted(tmp_path: Path) -> None:
    long = "A sentence with 'quotes' and {braces}.\nAnother line. " * 9
    runs = [observed(number, {"id": f"o-{number}"}, made("tell", text=f"{long}o-{number}")) for number in range(9)]
    source = drafted(tmp_path, runs).new["coordinators/w_x.py"]
    assert is_formatted(source)
    assert "{{braces}}" in source
