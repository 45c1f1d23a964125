"""An upgrade: what the company changed stays, what it left alone is replaced; both together are merged or marked."""

import os
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.shipped import gofer_version
from gofer.app.new_repository.upgrade import SUFFIX, upgrade
from gofer.app.new_repository.writing import FACTS, PRISTINE, Asked, write_repository
from gofer.values.errors import ConfigError

WORKFLOW = "agents/file-ticket.yaml"
PROMPT = "agents/answer-here.md"


class Company:
    """A repository that an earlier version wrote: `earlier` says what that version had written."""

    def __init__(self, folder: Path, *, aws: bool = False) -> None:
        self.folder = folder
        write_repository(Asked(folder, STARTERS, aws=aws))

    def read(self, path: str) -> str:
        return (self.folder / path).read_text()

    def write(self, path: str, text: str) -> None:
        (self.folder / path).write_text(text)

    def earlier(self, path: str, old: str, new: str) -> None:
        """Let the earlier version have written `old` where the present one writes `new`."""
        text = self.read(path).replace(new, old)
        assert old in text
        self.write(path, text)
        self.write(f"{PRISTINE}/files/{path}", text)

    def upgraded(self) -> dict[str, str]:
        """Upgrade, and return what happened to each file."""
        return {change.path: change.action for change in upgrade(self.folder).changes}


@pytest.fixture
def company(tmp_path: Path) -> Company:
    return Company(tmp_path / "acme")


def test_upgrade_to_the_same_version_changes_no_file(company: Company) -> None:
    company.write(PROMPT, "Ours.\n")
    assert company.upgraded() == {}
    assert company.read(PROMPT) == "Ours.\n"


def test_unchanged_file_is_replaced(company: Company) -> None:
    new = company.read(WORKFLOW)
    company.earlier(WORKFLOW, "usd: 0.10", "usd: 0.30")
    assert company.upgraded() == {WORKFLOW: "replaced"}
    assert company.read(WORKFLOW) == new == company.read(f"{PRISTINE}/files/{WORKFLOW}")


def test_changes_of_both_sides_are_merged(company: Company) -> None:
    company.earlier(WORKFLOW, "usd: 0.10", "usd: 0.30")
    company.write(WORKFLOW, company.read(WORKFLOW).replace('owner: "#dev-experience"', 'owner: "#acme-tools"'))
    assert company.upgraded() == {WORKFLOW: "merged"}
    assert 'owner: "#acme-tools"' in company.read(WORKFLOW)
    assert "usd: 0.30" in company.read(WORKFLOW)


def test_changes_of_one_line_are_marked_with_both_texts(company: Company) -> None:
    company.earlier(WORKFLOW, "usd: 0.10", "usd: 0.30")
    company.write(WORKFLOW, company.read(WORKFLOW).replace("usd: 0.10", "usd: 9.00"))
    assert company.upgraded() == {WORKFLOW: "conflict"}
    text = company.read(WORKFLOW)
    assert text.index("<<<<<<< yours") < text.index("usd: 9.00") < text.index("usd: 0.30")
    assert ">>>>>>> new version of Gofer" in text


@pytest.mark.parametrize("path", [PROMPT, "skills/jira-routing/SKILL.md", "evals/answers/answer-here.json"])
def test_changed_text_of_people_is_never_merged(company: Company, path: str) -> None:
    new = company.read(path)
    company.write(f"{PRISTINE}/files/{path}", "An earlier text.\n")
    company.write(path, "An earlier text.\nAnd our rule.\n")
    assert company.upgraded() == {path: "beside"}
    assert company.read(path) == "An earlier text.\nAnd our rule.\n"
    assert company.read(path + SUFFIX) == new


def test_deleted_file_stays_deleted_and_a_dropped_file_stays(company: Company) -> None:
    company.earlier(WORKFLOW, "usd: 0.10", "usd: 0.30")
    (company.folder / WORKFLOW).unlink()
    for folder in ("", f"{PRISTINE}/files/"):
        company.write(f"{folder}agents/triage.md", "Triage.\n")
    assert company.upgraded() == {WORKFLOW: "kept deleted", "agents/triage.md": "not shipped any more"}
    assert not (company.folder / WORKFLOW).exists()
    assert company.read("agents/triage.md") == "Triage.\n"


def test_new_file_is_added_and_a_file_of_the_same_name_is_kept(company: Company) -> None:
    for path in (WORKFLOW, PROMPT):
        (company.folder / PRISTINE / "files" / path).unlink()
    (company.folder / WORKFLOW).unlink()
    company.write(PROMPT, "A prompt of our own.\n")
    assert company.upgraded() == {WORKFLOW: "added", PROMPT: "beside"}
    assert company.read(PROMPT) == "A prompt of our own.\n"


def test_second_upgrade_changes_no_file(company: Company) -> None:
    company.earlier(WORKFLOW, "usd: 0.10", "usd: 0.30")
    company.write(WORKFLOW, company.read(WORKFLOW).replace("#dev-experience", "#acme-tools"))
    company.upgraded()
    text = company.read(WORKFLOW)
    assert company.upgraded() == {}
    assert company.read(WORKFLOW) == text
    assert gofer_version() in company.read(FACTS)


def test_part_added_to_the_dependency_is_in_the_lock_after_an_upgrade(company: Company) -> None:
    text = company.read("pyproject.toml")
    company.write("pyproject.toml", text.replace("gofer[files,slack]==", "gofer[aws,files,slack]=="))
    assert company.upgraded() == {"requirements.lock": "replaced"}
    assert "\nboto3==" in company.read("requirements.lock")
    assert '"gofer[aws,files,slack]==' in company.read("pyproject.toml")


def test_other_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`gofer init` writes it"):
        upgrade(tmp_path)


def test_deployment_of_a_company_is_merged_too(tmp_path: Path) -> None:
    company = Company(tmp_path / "acme", aws=True)
    company.earlier("template.yaml", "Timeout: 9", "Timeout: 10")
    company.earlier("deploy/prod.toml", "# sam build of earlier", "# sam build")
    company.earlier("handlers/slack.py", '"""Earlier.', '"""The function')
    company.write(
        "template.yaml", company.read("template.yaml").replace("LogRetentionDays:\n", "LogRetentionDays:  # ours\n", 1)
    )
    company.write("deploy/prod.toml", company.read("deploy/prod.toml").replace("# sam build of earlier", "# ours"))
    assert company.upgraded() == {
        "deploy/prod.toml": "conflict",
        "handlers/slack.py": "replaced",
        "template.yaml": "merged",
    }
    assert "Timeout: 10" in company.read("template.yaml")
    assert "LogRetentionDays:  # ours" in company.read("template.yaml")


def test_deployment_comes_with_an_upgrade_that_the_facts_ask_for(company: Company) -> None:
    company.write(FACTS, company.read(FACTS).replace('"aws": false', '"aws": true'))
    changes = company.upgraded()
    assert {changes[path] for path in ("template.yaml", "handlers/worker.py", "Makefile")} == {"added"}
    assert '"aws": true' in company.read(FACTS)


def test_upgrade_adds_the_pipeline_and_keeps_owners_that_a_company_wrote(company: Company) -> None:
    pipeline = (".github/workflows/evals.yml", ".github/CODEOWNERS", ".ci/evals", ".agents/bin/gofer")
    for path in pipeline:
        (company.folder / path).unlink()
        (company.folder / PRISTINE / "files" / path).unlink()
    company.write(".github/CODEOWNERS", "* @ada\n")
    assert company.upgraded() == dict.fromkeys(pipeline, "added") | {".github/CODEOWNERS": "beside"}
    assert company.read(".github/CODEOWNERS") == "* @ada\n"
    assert os.access(company.folder / ".agents/bin/gofer", os.X_OK)
