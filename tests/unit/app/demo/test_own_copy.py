"""The demo's own copy has every shipped workflow, and the further tools of `answer-here`."""

from pathlib import Path

import pytest

from gofer.app.catalog import checked_catalog
from gofer.app.demo.own_copy import write_own_copy
from gofer.app.new_repository.shipped import shipped
from gofer.values.errors import ConfigError


def test_copy_has_every_shipped_workflow_and_more_tools_for_answers(tmp_path: Path) -> None:
    write_own_copy(shipped(), tmp_path)
    copied = checked_catalog(tmp_path / "agents")
    original = checked_catalog(shipped() / "agents")
    assert set(copied.workflows) == set(original.workflows)
    assert "jira_search" in (tmp_path / "agents" / "answer-here.yaml").read_text()
    assert "jira_search" not in (shipped() / "agents" / "answer-here.yaml").read_text()


def test_copy_without_the_workflow_of_the_scenes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "shipped" / "agents").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"agents/answer-here\.yaml is missing"):
        write_own_copy(tmp_path / "shipped", tmp_path / "copy")
