"""docs/write-a-source.md, followed literally: files written, edits made, commands typed, their output compared."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from support.app.company import ROOT
from support.app.serve_process import first_of_free_ports
from support.guides.checkout import Terminal, checkout

PORT = "8760"
"""The port that the guide names; the test replaces it by a free one."""
DOCUMENTED = "documented_sources or documented_triggers or documented_tools or editor_schema"
"""The tests that compare documents with the registries."""


@pytest.fixture
def terminal(tmp_path: Path) -> Iterator[Terminal]:
    """A terminal in a copy of this repository."""
    made = checkout(tmp_path / "gofer")
    yield made
    for group in made.left_running:
        with suppress(ProcessLookupError):
            os.killpg(group, signal.SIGKILL)


@pytest.mark.rehearsal(
    "tests/architecture/test_template_functions.py::test_function_is_built_by_a_make_target",
    "tests/unit/app/test_source_template.py::test_added_source_has_an_alarm_log_access_and_a_url",
)
def test_source_guide_works_as_written(terminal: Terminal) -> None:
    guide = (ROOT / "docs" / "write-a-source.md").read_text().replace(PORT, str(first_of_free_ports(5)))
    terminal.follow(guide)
    assert_demo_lists_the_tracker_run(terminal)
    schema = (terminal.folder / "agents" / "workflow.schema.json").read_text()
    assert all(f'"{word}"' in schema for word in ("tracker.issue_created", "tracker.commented", "tracker_add_comment"))
    assert_function_is_packaged(terminal)
    terminal.type(f"python -m pytest -q -k '{DOCUMENTED}' tests/architecture/test_documents.py\n")


def assert_demo_lists_the_tracker_run(terminal: Terminal) -> None:
    """Assert that the demo lists the run of the simulated Tracker's delivery."""
    terminal.type("gofer runs\n")
    assert "triage-tracker" in terminal.says()


def assert_function_is_packaged(terminal: Terminal) -> None:
    """Assert that the package of the function has its handler and its receiver."""
    terminal.type("gofer package build TrackerFunction --here --without-bytecode\n")
    built = terminal.folder / "build"
    assert (built / "handlers" / "tracker.py").exists()
    assert (built / "gofer" / "sources" / "tracker" / "receiver.py").exists()
