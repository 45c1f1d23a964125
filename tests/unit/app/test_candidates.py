"""Candidates among the journals of a month, as the command prints them and as its guide shows them."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gofer.app.candidates import candidates_of, prompts_of
from gofer.app.catalog import mistakes
from gofer.learning.candidates.candidates_text import found_lines, to_json
from gofer.learning.candidates.sketch import prompt_file
from support.app.company import ROOT
from support.learning.asked_requests import a_month

pytestmark = pytest.mark.anyio
FOLDERS = ("agents", "subagents", "skills", "coordinators")


async def test_requests_of_a_month_become_one_candidate_as_the_guide_shows() -> None:
    found = await candidates_of(await a_month(), ROOT, 30)
    printed = "\n".join(found_lines(found))
    assert f"```text\n{printed}\n```" in (ROOT / "docs" / "candidates.md").read_text(), printed


OTHER_REQUESTS = """
import asyncio
from gofer.app.candidates import candidates_of
from support.app.company import ROOT
from support.learning.asked_requests import a_month

async def others():
    found = await candidates_of(await a_month(), ROOT, 30)
    return [one.others for one in found.candidates]

print(asyncio.run(others()))
"""


def test_requests_of_one_weight_have_the_same_order_in_every_process() -> None:
    shown = set[bytes]()
    for seed in "45":
        # Hashes of strings differ between processes, and so does the order of a set.
        environment = {"PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
        ran = subprocess.run([sys.executable, "-c", OTHER_REQUESTS], env=environment, capture_output=True, check=True)
        shown.add(ran.stdout)
    assert len(shown) == 1


async def test_sketched_workflow_passes_the_check(tmp_path: Path) -> None:
    for name in FOLDERS:
        shutil.copytree(ROOT / name, tmp_path / name)
    found = await candidates_of(await a_month(), tmp_path, 30)
    (candidate,) = found.candidates
    (tmp_path / "agents" / f"{candidate.name}.yaml").write_text(found.files[candidate.name])
    (tmp_path / "agents" / f"{candidate.name}.md").write_text(prompt_file(candidate))
    assert [str(one) for one in mistakes(tmp_path / "agents")] == []


async def test_days_limit_the_runs() -> None:
    opened = await a_month()
    opened.clock.advance(60 * 86_400)
    found = await candidates_of(opened, ROOT, 1)
    assert (found.looked_at, list(found.candidates)) == (0, [])
    assert "No candidates" in "\n".join(found_lines(found))


async def test_json_counts_people_and_names_none() -> None:
    found = await candidates_of(await a_month(), ROOT, 30)
    written = json.dumps(to_json(found, []))
    assert '"people": 5' in written
    assert "U0NEWCO" not in written


def test_prompts_are_read_by_their_paths() -> None:
    texts = prompts_of(ROOT)
    assert "agents/answer-here.md" in texts
    assert "skills/jira-routing/SKILL.md" in texts
