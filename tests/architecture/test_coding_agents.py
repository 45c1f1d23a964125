"""The runbooks of coding agents: their commands may run, their recipes work, and their fields exist."""

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import jq
import pytest

from gofer.workflows.skill import read_skills
from support.processes.agents_copy import copy_agents

ROOT = Path(__file__).parents[2]
HOME = ROOT / ".agents" / "skills"
RUNBOOKS = read_skills(HOME)
TRACES = HOME / "backend-traces"
KEYS = {"DD_API_KEY": "key", "DD_APP_KEY": "key"}
OF_THE_RUNTIME = {"at", "level", "message", "logger", "error", "function_request_id"}
"""The fields of every log line on AWS."""


def commands(text: str) -> Iterator[list[str]]:
    """Yield the arguments of each command of `.agents/bin` in a runbook, from code in blocks and in lines."""
    for line in re.findall(r"\.agents/bin/[^`\n]+", text):
        words = shlex.split(re.split(r" > ", line)[0])
        if len(words) > 1:
            yield [words[0].rsplit("/", 1)[1], *words[1:]]


def test_page_lists_each_runbook() -> None:
    table = (ROOT / "docs" / "coding-agents.md").read_text().split("| skill | for |\n", 1)[1].split("\n\n", 1)[0]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", table, re.MULTILINE)) == set(RUNBOOKS)
    assert "docs/coding-agents.md" in (ROOT / "AGENTS.md").read_text()


@pytest.mark.parametrize("name", RUNBOOKS)
def test_runbook_is_short_and_says_when_to_leave_the_skill(name: str) -> None:
    skill = RUNBOOKS[name]
    assert len(skill.body) < 4_500
    assert "Use it" in skill.description
    assert re.search(r"Do not use this skill|It is not worth it", skill.body)


@pytest.mark.parametrize("name", RUNBOOKS)
def test_runbook_names_skills_that_exist(name: str) -> None:
    named = set(re.findall(r"the skill `([a-z-]+)`", RUNBOOKS[name].body))
    assert named <= set(RUNBOOKS) - {name}


@pytest.mark.parametrize("name", RUNBOOKS)
def test_each_command_of_a_runbook_may_run(tmp_path: Path, name: str) -> None:
    repository = copy_agents(tmp_path / "copy")
    found = list(commands(RUNBOOKS[name].body))
    assert found
    for words in found:
        done = repository.execute(words, KEYS)
        assert done.returncode == 0, (words, done.stderr)


def test_changing_commands_are_left_to_maintainers() -> None:
    text = "\n".join(skill.body for skill in RUNBOOKS.values())
    for command in re.findall(r"`gofer (?:golden|eval|replay) [^`]*`", text):
        before = text.split(command)[0][-300:]
        assert "maintainer" in before, command


def printed(recipe: str, given: str) -> list[str]:
    """Return the lines that `jq -rs -f` prints for a recipe and an input."""
    values = [json.loads(line) for line in given.splitlines()]
    return [str(line) for line in compiled(recipe).input_value(values).all()]


def compiled(recipe: str) -> Any:
    """Return a recipe, ready for an input."""
    return jq.compile((TRACES / f"{recipe}.jq").read_text())


@pytest.fixture(params=["otlp:example-otlp.jsonl", "datadog:example-datadog.json"])
def spans(request: pytest.FixtureRequest) -> str:
    """Return the spans of one run, from an export and as Datadog lists them."""
    recipe, file = str(request.param).split(":")
    return "\n".join(map(json.dumps, compiled(recipe).input_text((TRACES / file).read_text()).all()))


def test_timeline_recipe_prints_each_span_at_its_time(spans: str) -> None:
    first, *lines = printed("timeline", spans)
    assert first == "trace ab4c49575325a40a1d0288a2d25915ff"
    assert len(lines) == 11
    assert [int(line.split("\t")[0]) for line in lines] == sorted(int(line.split("\t")[0]) for line in lines)
    assert lines[5] == "146\t7\texecute_tool slack_read_thread\t✗ channel_not_found"


def test_calls_recipe_prints_each_span_below_its_parent(spans: str) -> None:
    lines = printed("calls", spans)
    assert lines[0] == "invoke_workflow answer-here (186 ms)"
    assert lines[6:9] == [
        "  execute_tool subagent (12 ms) ✗ empty",
        "    invoke_agent think (5 ms) ✗ empty",
        "      chat gpt-5.4-mini (5 ms) ✗ empty",
    ]
    assert len(lines) == 11


def test_calls_recipe_shows_spans_without_their_parent(spans: str) -> None:
    without = "\n".join(line for line in spans.splitlines() if "invoke_workflow" not in line)
    lines = printed("calls", without)
    assert len(lines) == 10
    assert lines[0] == "execute_tool slack_get_user (3 ms)"


def test_errors_recipe_prints_run_entry_and_error(spans: str) -> None:
    lines = printed("errors", spans)
    assert lines[0] == "e698e4e812b7ba5414eba2c8\t6.1\texecute_tool slack_read_thread\tchannel_not_found"
    assert len(lines) == 4


def test_attributes_of_the_example_export_are_documented() -> None:
    text = (ROOT / "docs" / "telemetry.md").read_text()
    for line in (TRACES / "example-otlp.jsonl").read_text().splitlines():
        parts: list[Mapping[str, object]] = json.loads(line)["resourceSpans"]
        names = set(re.findall(r'"key": "([a-z_.]+)"', json.dumps(parts)))
        assert names
        assert {name for name in names if name.rsplit(".", 1)[1] not in text} == set()


def test_fields_of_log_queries_are_fields_of_log_lines() -> None:
    queries = re.findall(r"[`']((?:fields|filter) [^`']+)", RUNBOOKS["cloudwatch-logs"].body)
    assert len(queries) > 5
    source = "".join(path.read_text() for path in (ROOT / "src" / "gofer").rglob("*.py"))
    for query in queries:
        listed = re.findall(r"^fields ([a-z_., 0-9]+?) \|", query) + re.findall(r" by ([a-z_, ]+)", query)
        filtered = set(re.findall(r"(?:filter|and|or) ([a-z_]+) (?:!?=|like)", query))
        names = {name.split(".")[0] for part in listed for name in part.split(", ")} | filtered
        assert {name for name in names - OF_THE_RUNTIME if f'"{name}": ' not in source} == set()


def test_log_groups_of_the_runbook_are_groups_of_the_template() -> None:
    template = (ROOT / "template.yaml").read_text()
    groups = set(re.findall(r"(?:/aws/vendedlogs)?/gofer/(?:staging|STAGE)/[a-z]+", RUNBOOKS["cloudwatch-logs"].body))
    assert groups
    for group in groups:
        assert f"!Sub {re.sub('/(staging|STAGE)/', '/${Stage}/', group)}" in template
