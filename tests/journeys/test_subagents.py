"""Three documents compared by subagents at the same time, through the whole of Gofer."""

import json
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from gofer.journal.entries import Recorded, SubagentStarted
from gofer.journal.log import read_journal
from gofer.projections import conversation, progress
from gofer.projections.tracing import trace
from gofer.projections.tracing.outline import outline
from gofer.values.model_script import load_scripts
from support.app.company import ROOT, Company, company

pytestmark = pytest.mark.anyio
WORKFLOW = """\
description: Compares contracts that stand in threads.
owner: "#helpers"
when: [slack.mention]
tools: [slack_read_thread]
subagents: [read-file]
files: {whole_tokens: 500, preview_tokens: 200}
limits: {llm_calls: 30, tool_calls: 30}
"""
SCRIPTS = r"""
- name: compare
  when:
    says: '/p(?P<north>\d{16})\S* \S+/p(?P<south>\d{16})\S* \S+/p(?P<east>\d{16})'
    tools: [subagent, slack_read_thread]
  results:
    - '"text_id": "(?P<one>result_\w+)"(?:(?!text_id)[\s\S])*Contract North'
    - '"text_id": "(?P<two>result_\w+)"(?:(?!text_id)[\s\S])*Contract South'
    - '"text_id": "(?P<three>result_\w+)"(?:(?!text_id)[\s\S])*Contract East'
    - 'North: (?P<a>\d+) days'
    - 'South: (?P<b>\d+) days'
    - 'East: (?P<c>\d+) days'
  steps:
    - calls:
        - slack_read_thread: {link: 'https://acme.slack.com/archives/C0GENERA0/p{north}'}
        - slack_read_thread: {link: 'https://acme.slack.com/archives/C0GENERA0/p{south}'}
        - slack_read_thread: {link: 'https://acme.slack.com/archives/C0GENERA0/p{east}'}
    - calls:
        - subagent: {agent_name: read-file, prompt: 'Of {one}: what is the notice period?', files: ['{one}']}
        - subagent: {agent_name: read-file, prompt: 'Of {two}: what is the notice period?', files: ['{two}']}
        - subagent: {agent_name: read-file, prompt: 'Of {three}: what is the notice period?', files: ['{three}']}
    - text: "North has {a} days, South {b} and East {c}."
- name: read
  when: {says: 'Of (?P<file>result_\w+): what is the notice', tools: [file_read]}
  results: ['Contract (?P<name>North|South|East)', 'notice period is (?P<days>\d+) days']
  steps:
    - calls:
        - file_read: {file: '{file}'}
    - text: "{name}: {days} days, said in {file}."
"""


def contract(name: str, days: int) -> str:
    filler = " ".join(f"Clause {n} says nothing of what anybody wants to know." for n in range(60))
    return f"Contract {name}. {filler} The notice period is {days} days. {filler}"[:7_000]


@asynccontextmanager
async def contract_company(folder: Path) -> AsyncIterator[Company]:
    root = folder / "repository"
    (root / "agents").mkdir(parents=True)
    shutil.copytree(ROOT / "subagents", root / "subagents")
    (root / "agents" / "w.yaml").write_text(WORKFLOW)
    (root / "agents" / "w.md").write_text("Compare what you are asked to compare.")
    (root / "agents" / "defaults.yaml").write_text("models: {default: gpt-5.4-mini}\n")
    async with company(folder, root=root, scripts=load_scripts(SCRIPTS, "the journey")) as made:
        yield made


async def compared(made: Company) -> str:
    """Ask for the notice periods of three contracts and return the answer."""
    links: list[str] = []
    for name, days in (("North", 30), ("South", 90), ("East", 14)):
        posted = await made.ask(contract(name, days), "general")
        links.append(made.slack.workspace.permalink(posted))
    asked = await made.ask(f"@Gofer which notice periods do these have? {' '.join(links)}", "deploys")
    await made.ended()
    (answer,) = made.answers(asked)
    return answer.text


async def test_three_documents_are_compared_by_subagents_at_once(tmp_path: Path) -> None:
    async with contract_company(tmp_path) as made:
        assert "North has 30 days, South 90 and East 14." in await compared(made)
        (head,) = await made.ended()
        journal = await made.journal(head.run)
        asked = [one.entry for one in journal if isinstance(one.entry, SubagentStarted)]
        store, blobs = made.embedded.state.store, made.embedded.state.blobs
        below = [await read_journal(one.run, store, blobs) for one in asked]
        page = await made.get(f"/runs/{head.run}/trace")
    assert {one.name for one in asked} == {"read-file"}
    assert len({one.run for one in asked}) == 3
    # Each had begun before the first of them ended.
    assert max(one[0].at for one in below) <= min(one[-1].at for one in below)
    # No document was in the conversation of the run itself.
    assert not any("notice period is" in prompt for prompt in prompts(journal))
    done = progress.project(journal)
    assert (done.llm_calls, done.tool_calls, done.asking) == (3 + 6, 6 + 3, {})
    # The trace of the run shows the steps of its subagents.
    spans = page.json()["spans"]
    assert sum(span["kind"] == "agent" for span in spans) == 3
    assert sum(span["name"] == "file_read" for span in spans) == 3
    assert sum("subagent read-file" in line for line in outline(head.run, trace.project(journal))) == 3


async def test_subagent_runs_are_absent_from_the_run_list(tmp_path: Path) -> None:
    async with contract_company(tmp_path) as made:
        await compared(made)
        assert len(await made.embedded.state.store.heads(100, private=True)) == 1
        rows = await made.get("/runs")
        assert rows.text.count("notice") == 0


def prompts(journal: Sequence[Recorded]) -> list[str]:
    """Return the messages to the model of a run."""
    return [json.dumps(json.loads(part)) for part in conversation.project(journal).parts]
