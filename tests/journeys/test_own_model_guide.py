"""docs/own-model.md: its files load, its servers have the window of its files, and the least window is enough."""

import re
import shutil
from pathlib import Path

import pytest

from gofer.app.catalog import look_up
from gofer.app.evals.current_files import current_files
from gofer.app.settings import read_settings
from gofer.engine.first_message import OPENING_SHARE
from gofer.models.abilities import LEAST_WINDOW
from gofer.sources.workflow_files import load_catalog
from gofer.values.canonical_json import encode_text
from gofer.values.tokens import estimate
from gofer.workflows.model_roles import RoleModel
from gofer.workflows.schema import Context
from support.app.company import ROOT
from support.guides.checkout import FENCE

GUIDE = (ROOT / "docs" / "own-model.md").read_text()
SECTIONS = {text.partition("\n")[0]: text for text in GUIDE.split("\n## ")[1:]}
SERVERS = ("Ollama", "vLLM", "llama.cpp")
WINDOW = {"Ollama": "OLLAMA_CONTEXT_LENGTH={}", "vLLM": "--max-model-len {}", "llama.cpp": "-c {}"}
"""The words that give a server its window."""
FIXED = re.compile(r"take up to ([\d,]+) of them")


def blocks(section: str, kind: str) -> list[str]:
    return [text for found, _, text in FENCE.findall(SECTIONS[section]) if found == kind]


@pytest.mark.parametrize("server", SERVERS)
def test_four_lines_make_a_free_model_with_the_window_of_its_server(server: str, tmp_path: Path) -> None:
    (lines,), (command,) = blocks(server, "yaml"), blocks(server, "sh")
    assert len(lines.splitlines()) == 4
    for name in ("agents", "skills", "subagents", "coordinators"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "agents" / "defaults.yaml").write_text(lines)
    (model,) = load_catalog(tmp_path / "agents", look_up=look_up).workflows["answer-here"].models
    assert model.ability is not None
    assert model.price is not None
    assert (model.price.input, model.price.output) == (0, 0)
    assert model.ability.window >= 2 * LEAST_WINDOW
    assert WINDOW[server].format(model.ability.window) in command
    assert model.name in command
    assert read_settings({"MODEL_BASE_URLS": model.endpoint.base_url}).model_base_urls == {model.endpoint.base_url}


def test_flags_without_which_servers_call_no_tool_are_named() -> None:
    assert "--enable-auto-tool-choice --tool-call-parser hermes" in blocks("vLLM", "sh")[0]
    assert "-np 1" in blocks("llama.cpp", "sh")[0]
    assert "`--jinja`" in SECTIONS["llama.cpp"]


def test_keys_of_the_table_are_keys_of_a_model() -> None:
    rows = re.findall(r"^\| `(\w+)", SECTIONS["For each of them"], re.MULTILINE)
    assert len(rows) == 4
    assert set(rows) <= set(RoleModel.model_fields)


def test_shipped_workflows_leave_room_in_the_least_window() -> None:
    (limit,) = FIXED.findall(GUIDE)
    fixed = [
        estimate(bundle.loaded.system) + estimate(encode_text(bundle.tools))
        for bundle in current_files(ROOT).bundles.values()
    ]
    most = int(limit.replace(",", ""))
    assert most - 200 < max(fixed) <= most
    assert f"**{LEAST_WINDOW:,} tokens**" in GUIDE
    assert OPENING_SHARE == 0.25
    full = LEAST_WINDOW * Context().compact_at / 100
    assert full - most - OPENING_SHARE * LEAST_WINDOW > 1_000
