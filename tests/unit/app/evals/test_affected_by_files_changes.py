"""A change of the workflow files counts for a run only if it changes a request, for `--changed` and `--affected`."""

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from hypothesis import given
from hypothesis import strategies as st

from gofer.app.evals.current_files import current_files
from gofer.app.evals.player import Playing, open_player
from gofer.app.settings import read_settings
from gofer.evals.affected import Change, FileVersion, affected_runs
from gofer.evals.golden_works import golden_works
from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.load import load_evals
from gofer.evals.plays import Play
from gofer.evals.prompt_texts import changed_texts, loaded_texts, prompt_texts
from gofer.sources.workflow_files import load_catalog
from support.app.company import ROOT
from support.property_examples import examples

FOLDERS = ("agents", "coordinators", "skills", "subagents")
WORKFLOWS = sorted(path.stem for path in (ROOT / "agents").glob("*.yaml") if path.stem != "defaults")
PROMPTS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "agents").glob("*.md"))
SUBAGENTS = sorted(path.stem for path in (ROOT / "subagents").glob("*.yaml"))
SKILLS = sorted(path.parent.name for path in (ROOT / "skills").glob("*/SKILL.md"))
YAML = [
    "agents/defaults.yaml",
    *(f"agents/{name}.yaml" for name in WORKFLOWS),
    *(f"subagents/{name}.yaml" for name in SUBAGENTS),
]
OF_WORKFLOWS = [f"agents/{name}.yaml" for name in WORKFLOWS]
TEXTS = [*PROMPTS, *(f"subagents/{name}.md" for name in SUBAGENTS), *(f"skills/{name}/SKILL.md" for name in SKILLS)]

Fields = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Edit:
    """An edit of one file, and the text of which models then read something else; empty for none."""

    path: str
    edited: Callable[[str], str]
    reads: str = ""


def with_fields(change: Callable[[Fields], Fields]) -> Callable[[str], str]:
    """Return the edit of a YAML file that changes its fields. Its comments get lost, and its layout changes."""
    return lambda text: yaml.safe_dump(change(yaml.safe_load(text)), sort_keys=False, allow_unicode=True)


def with_limit(fields: Fields) -> Fields:
    return {**fields, "limits": {**fields.get("limits", {}), "usd": 0.4321, "llm_calls": 7}}


HARMLESS = st.one_of(
    st.builds(Edit, st.sampled_from(YAML), st.just(lambda text: f"# A comment.\n\n{text}\n# Another one.\n")),
    st.builds(Edit, st.sampled_from(YAML), st.just(with_fields(lambda fields: dict(reversed(fields.items()))))),
    st.builds(Edit, st.sampled_from(YAML), st.just(with_fields(with_limit))),
    st.builds(
        Edit,
        st.sampled_from(OF_WORKFLOWS),
        st.just(with_fields(lambda fields: {**fields, "description": "Other words.", "owner": "#others"})),
    ),
    st.builds(Edit, st.sampled_from(TEXTS), st.just(lambda text: f"{text}\n\n\n")),
)


def longer(path: str, reads: str) -> Edit:
    return Edit(path, lambda text: f"{text}\nAnswer in French.\n", reads)


READ = st.sampled_from(
    [
        *(longer(path, "agents: preamble" if path == "agents/preamble.md" else path) for path in PROMPTS),
        *(longer(f"subagents/{name}.md", f"subagents/{name}") for name in SUBAGENTS),
        *(longer(f"skills/{name}/SKILL.md", f"skills/{name}") for name in SKILLS),
        Edit(
            "agents/answer-here.yaml",
            with_fields(lambda fields: {**fields, "tools": [*fields["tools"], "slack_get_permalink"]}),
            "agents/answer-here.md",
        ),
        Edit(
            "agents/file-ticket.yaml",
            with_fields(lambda fields: {**fields, "model": {"name": "default", "temperature": 0}}),
            "agents/file-ticket.md",
        ),
        Edit(
            "subagents/choose-reviewers.yaml",
            with_fields(lambda fields: {**fields, "model": {"name": "default", "temperature": 0}}),
            "subagents/choose-reviewers",
        ),
    ]
)


@contextmanager
def edited(edits: Sequence[Edit]):
    """Yield the folder of a copy of the shipped files with edits."""
    with tempfile.TemporaryDirectory() as made:
        root = Path(made)
        for name in FOLDERS:
            shutil.copytree(ROOT / name, root / name)
        for edit in edits:
            path = root / edit.path
            path.write_text(edit.edited(path.read_text()))
        yield root


@cache
def plays() -> Mapping[str, Play]:
    """Return a play of every shipped case with its recorded answers, by workflow and case."""

    async def played() -> Mapping[str, Play]:
        async with open_player(read_settings({}), ROOT, Playing()) as player:
            return {
                f"{loaded.eval.workflow}/{case.name}": await player.play(loaded, case, 1)
                for loaded in load_evals(ROOT / "evals")
                for case in loaded.eval.cases
                if not case.golden
            }

    return asyncio.run(played())


@cache
def before() -> FileVersion:
    return current_files(ROOT)


def changed_cases(after: FileVersion) -> Collection[str]:
    """Return the cases of which `--changed` says that the change changes their requests."""
    change = Change(before(), after)
    return {
        name
        for name, play in plays().items()
        for turn in play.turns
        if change.requests(name.partition("/")[0], turn.run, turn.journals)
    }


def changed_goldens(after: FileVersion) -> Collection[str]:
    """Return the goldens of which `--changed` says that the change changes their requests."""
    change = Change(before(), after)
    works = golden_works(ROOT / FOLDER)
    return {work.run for work in works if change.requests(work.bundles[work.run].loaded.name, work.run, work.journals)}


def affected_goldens(after: FileVersion) -> Collection[str]:
    return {run.run for run in affected_runs(golden_works(ROOT / FOLDER), after) if run.causes}


def loading(text: str) -> Collection[str]:
    """Return the cases with a text in one of their requests."""
    return {name for name, play in plays().items() if text in loaded_texts(play)}


def test_shipped_cases_load_prompts_and_skills_of_several_workflows() -> None:
    assert len(loading("agents: preamble")) > 10
    assert loading("skills/jira-routing")
    assert loading("subagents/choose-reviewers")


def test_changed_preamble_changes_every_golden_of_a_model() -> None:
    with edited([longer("agents/preamble.md", "agents: preamble")]) as root:
        after = current_files(root)
    assert changed_goldens(after) == affected_goldens(after) == {path.stem for path in (ROOT / FOLDER).glob("*.yaml")}


@examples(0.4)
@given(st.lists(HARMLESS, min_size=1, max_size=6))
def test_edits_that_no_model_reads_change_no_case_no_golden_and_no_text(edits: list[Edit]) -> None:
    with edited(edits) as root:
        after = current_files(root)
        texts = prompt_texts(root, load_catalog(root / "agents"), after.bundles)
    shipped = prompt_texts(ROOT, load_catalog(ROOT / "agents"), before().bundles)
    assert changed_cases(after) == set()
    assert changed_goldens(after) == affected_goldens(after) == set()
    assert changed_texts(texts, shipped) == []


@examples(0.4)
@given(READ, st.lists(HARMLESS, max_size=2))
def test_edit_that_models_read_changes_the_cases_that_load_the_text(edit: Edit, harmless: list[Edit]) -> None:
    with edited([edit, *harmless]) as root:
        after = current_files(root)
        texts = prompt_texts(root, load_catalog(root / "agents"), after.bundles)
    shipped = prompt_texts(ROOT, load_catalog(ROOT / "agents"), before().bundles)
    assert changed_cases(after) == loading(edit.reads)
    assert changed_goldens(after) == affected_goldens(after)
    assert [text.loaded_as for text in changed_texts(texts, shipped)] == [edit.reads]
