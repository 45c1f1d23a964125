"""The play of a golden with the workflow files of today, in which places and people have other names."""

from dataclasses import replace
from pathlib import Path

import pytest

from gofer.evals.goldens.golden_file import FOLDER
from gofer.evals.goldens.golden_reader import ReadGolden, read_golden
from gofer.evals.goldens.playing import as_accepted
from gofer.sources.workflow_files import WorkflowForm, load_catalog
from gofer.values.canonical_json import as_object
from gofer.workflows.load import Loaded

ROOT = Path(__file__).parents[4]
CATALOG = load_catalog(ROOT / "agents")
GOLDENS = [read_golden(path) for path in sorted((ROOT / FOLDER).glob("*.yaml"))]
REVIEW = read_golden(ROOT / FOLDER / "rfc-review.yaml")


def of_today(**keys: object) -> Loaded:
    return _with(CATALOG.workflows["review-rfc"], **keys)


def recorded(**keys: object) -> ReadGolden:
    """Return the golden with other keys in its recorded workflow file."""
    turn = REVIEW.turns[0]
    bundle = turn.bundles[turn.run]
    changed = {**bundle, "workflow": {**as_object(bundle["workflow"]), **keys}}
    return replace(REVIEW, turns=[replace(turn, bundles={turn.run: changed})])


def _with(loaded: Loaded, **keys: object) -> Loaded:
    changed = {**loaded.workflow.model_dump(mode="json"), **keys}
    return replace(loaded, workflow=WorkflowForm.model_validate(changed))


@pytest.mark.parametrize("read", GOLDENS, ids=[read.golden.golden for read in GOLDENS])
def test_golden_starts_by_the_conditions_of_its_recording(read: ReadGolden) -> None:
    bundle = read.turns[0].bundle(read.turns[0].run)
    assert bundle is not None
    accepted = as_accepted(CATALOG.workflows[read.golden.workflow], read).workflow
    assert accepted.when == bundle.loaded.workflow.when
    assert accepted.who == bundle.loaded.workflow.who


def test_people_and_places_of_the_file_get_recorded_names() -> None:
    approve = {"tools": ["notion_add_comment"], "by": ["@captains", "U0CAPTN0"], "expires": "2 days"}
    written = {"slack": ["C0RELEAS0"], "github": ["acme/shop"], "jira": ["PAY"]}
    renamed = {"slack": ["C7QWXZKP4"], "github": ["tuki/shop"], "jira": ["PAY"]}
    before = recorded(
        who=["U8XKWQJ3"], writes=renamed, approve={**approve, "by": ["@fazibedo", "U3KXQWZ7"], "expires": "1 days"}
    )
    accepted = as_accepted(of_today(who=["U0CAPTN0"], writes=written, approve=approve), before).workflow
    assert accepted.who == ("U8XKWQJ3",)
    assert accepted.writes.model_dump(exclude_defaults=True, mode="json") == renamed
    assert accepted.approve is not None
    assert accepted.approve.by == ("@fazibedo", "U3KXQWZ7")


def test_places_that_were_added_or_removed_since_stay_as_in_the_file() -> None:
    before = recorded(writes={"slack": ["C7QWXZKP4"], "jira": ["PAY", "SHOP"]})
    now = of_today(writes={"slack": ["C0RELEAS0", "C0DEPLOY0"], "jira": ["OPS"]})
    accepted = as_accepted(now, before).workflow
    assert accepted.writes.entries("slack") == ("C7QWXZKP4", "C0DEPLOY0")
    assert accepted.writes.entries("jira") == ("OPS",)


def test_limits_and_prompt_are_of_today() -> None:
    limits = {"llm_calls": 3}
    accepted = as_accepted(of_today(limits=limits), REVIEW)
    assert accepted.workflow.limits.llm_calls == 3
    assert accepted.system == CATALOG.workflows["review-rfc"].system
