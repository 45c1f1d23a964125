"""Three tasks of a ferry line with a world: ten tools, three workflows, and right and wrong runs."""

import json
import shutil
from pathlib import Path

import pytest

from support.app.command_line import gofer
from support.app.company import ROOT

pytestmark = pytest.mark.usefixtures("terminal")
FERRY = ROOT / "tests" / "companies" / "ferry"
MOST_WORDS = 1_000


@pytest.fixture
def company(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminal: None) -> Path:
    folder = tmp_path / "ferry"
    shutil.copytree(FERRY, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(folder)
    return folder


def test_company_is_small() -> None:
    files = [path for path in FERRY.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert sum(len(path.read_text().split()) for path in files) <= MOST_WORDS
    assert (FERRY / "tools" / "ferry.py").read_text().count("@tool(") == 10


def test_right_runs_pass_by_the_world(capsys: pytest.CaptureFixture[str], company: Path) -> None:
    assert gofer(capsys, "check")[0] == 0
    assert gofer(capsys, "eval", "--record")[0] == 3
    code, out, err = gofer(capsys, "eval")
    assert (code, err) == (0, "")
    assert out.startswith("3 passed (3 harness only)")


def test_wrong_runs_fail_only_by_the_world(capsys: pytest.CaptureFixture[str], company: Path) -> None:
    shutil.copytree(company / "wrong", company / "evals" / "scripts", dirs_exist_ok=True)
    code, out, _ = gofer(capsys, "eval", "--record", "--json")
    assert code == 1
    failed = {
        case["case"]: {grade["dimension"] for run in case["runs"] for grade in run["grades"] if not grade["passed"]}
        for case in json.loads(out)["result"]["cases"]
    }
    assert failed == {
        "complaint/second-claim": {"world.unchanged"},
        "move/move-two": {"world.changed", "world.unchanged"},
        "refund/refund-two": {"world.changed"},
    }
