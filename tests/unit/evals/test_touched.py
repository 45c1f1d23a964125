"""The cases that a change touches: by workflow, by the files of an eval, and the smoke set always."""

from pathlib import Path

import pytest

from gofer.evals.eval_file import Eval
from gofer.evals.touched import Repository
from gofer.sources.workflow_files import load_catalog

ROOT = Path(__file__).parents[3]


def eval_of(workflow: str, **fields: object) -> Eval:
    case = {"name": "one", "trigger": {"payload": "payloads/mention.json"}}
    return Eval.model_validate({"workflow": workflow, "cases": [case], **fields})


EVALS = {
    "questions": eval_of("answer-here"),
    "tickets": eval_of("file-ticket", world="worlds/outage.yaml"),
    "reviewers": eval_of("assign-reviewers"),
    "digest": eval_of(
        "weekly-digest",
        cases=[{"name": "one", "golden": "digest-0211"}, {"name": "two", "trigger": {}, "tags": ["smoke"]}],
    ),
}
CATALOG = load_catalog(ROOT / "agents")
SMOKE = {"digest/two"}
ALL = {"questions/one", "tickets/one", "reviewers/one", "digest/one", "digest/two"}


def touched(*paths: str, tools: tuple[str, ...] = ()) -> set[str]:
    return set(Repository(EVALS, CATALOG, tools).touched(paths))


@pytest.mark.parametrize(
    ("path", "cases"),
    [
        ("agents/answer-here.md", {"questions/one"}),
        ("agents/answer-here.yaml", {"questions/one"}),
        ("agents/file-ticket.md", {"tickets/one"}),
        ("coordinators/assign_reviewers.py", {"reviewers/one"}),
        ("evals/tickets.yaml", {"tickets/one"}),
        ("evals/worlds/outage.yaml", {"tickets/one"}),
        ("evals/answers/tickets.json", {"tickets/one"}),
        ("evals/goldens/digest-0211.golden.yaml", {"digest/one"}),
        ("docs/evals.md", set()),
        ("README.md", set()),
        ("tests/unit/test_embed.py", set()),
        ("agents/workflow.schema.json", set()),
        (".github/workflows/evals.yml", set()),
    ],
)
def test_file_touches_the_cases_of_its_workflow_and_the_smoke_set(path: str, cases: set[str]) -> None:
    assert touched(path) == cases | SMOKE


@pytest.mark.parametrize(
    "path",
    [
        "agents/defaults.yaml",
        "agents/preamble.md",
        "agents/.models.json",
        "src/gofer/engine/loop.py",
        "handlers/worker.py",
        "pyproject.toml",
        "template.yaml",
        "locks/dev.txt",
        "requirements.txt",
        "unknown/file.txt",
    ],
)
def test_shared_files_and_code_touch_every_case(path: str) -> None:
    assert touched(path) == ALL


def test_skill_touches_the_workflows_with_this_skill() -> None:
    loading = {name for name, loaded in CATALOG.workflows.items() if "jira-routing" in loaded.skills}
    expected = {f"{name}/{case.name}" for name, of in EVALS.items() if of.workflow in loading for case in of.cases}
    assert touched("skills/jira-routing/SKILL.md") == expected | SMOKE
    assert "tickets/one" in expected


def test_subagent_touches_the_workflows_with_this_subagent() -> None:
    name = next(iter(sorted(path.stem for path in (ROOT / "subagents").glob("*.yaml"))))
    asking = {workflow for workflow, loaded in CATALOG.workflows.items() if name in loaded.subagents}
    expected = {f"{file}/{case.name}" for file, of in EVALS.items() if of.workflow in asking for case in of.cases}
    assert touched(f"subagents/{name}.yaml") == expected | SMOKE


def test_file_of_tools_touches_the_workflows_with_company_tools() -> None:
    tool = CATALOG.workflows["file-ticket"].workflow.tool_names[0]
    listing = {name for name, loaded in CATALOG.workflows.items() if tool in loaded.workflow.tool_names}
    expected = {f"{file}/{case.name}" for file, of in EVALS.items() if of.workflow in listing for case in of.cases}
    assert touched("tools/tickets.py", tools=(tool,)) >= expected
    assert touched("tools/tickets.py") == SMOKE


def test_reason_of_a_case_is_the_first_touching_path() -> None:
    repository = Repository(EVALS, CATALOG)
    paths = ["docs/a.md", "agents/answer-here.md", "src/gofer/embed.py"]
    assert repository.touched(paths)["questions/one"] == "agents/answer-here.md"
    assert repository.touched(paths)["tickets/one"] == "src/gofer/embed.py"
    assert repository.touched([]) == {"digest/two": "smoke"}


def test_eval_of_a_removed_workflow_is_touched_by_any_workflow_file() -> None:
    repository = Repository({"old": eval_of("removed")}, CATALOG)
    assert repository.touched(["agents/removed.yaml"]) == {"old/one": "agents/removed.yaml"}


@pytest.mark.parametrize("written", ["worlds/new.yaml", "./worlds/new.yaml", "worlds/../worlds/new.yaml"])
def test_file_touches_the_case_however_its_path_is_written(written: str) -> None:
    one = eval_of(workflow="answer-here", world=written, cases=[{"name": "one", "trigger": {}}])
    assert set(Repository({"asks": one}, CATALOG).touched(["evals/worlds/new.yaml"])) == {"asks/one"}
