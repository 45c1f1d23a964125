"""`new-hire-checklist` is promoted from forty runs of a scripted model: the draft, its check, and its verification.

The answers of the model are scripted, so the journey shows what a promotion finds, and says nothing about a prompt.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gofer.app.catalog import mistakes
from gofer.cli.main import main
from gofer.journal.coordination import UNFINISHED
from support.app import shipped_workflows
from support.app.command_line import gofer
from support.app.company import ROOT, company
from support.app.hired_colleagues import COLLEAGUES, REMOTE, HiringModel, colleague

FOLDERS = ("agents", "subagents", "skills", "coordinators")
GUIDE = ROOT / "docs" / "promote.md"
NAME = "new-hire-checklist"
SCRIPT = Path("draft/coordinators/new_hire_checklist.py")


async def hired(folder: Path) -> None:
    """Let the HR system announce forty colleagues, and wait until all runs ended."""
    async with company(folder, model=HiringModel()) as made:
        for number in range(COLLEAGUES):
            assert await shipped_workflows.hire(made, colleague(number)) == 200
        async with asyncio.timeout(120):
            while True:
                await made.embedded.simulated.settled()
                heads = await made.embedded.state.store.heads(1000)
                if len(heads) == COLLEAGUES and all(head.status not in UNFINISHED for head in heads):
                    break
                await asyncio.sleep(0.05)
        assert {head.status for head in heads} == {"done"}


@pytest.fixture(scope="module")
def forty_runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the state of forty runs, and a copy of the repository's workflows."""
    folder = tmp_path_factory.mktemp("hired")
    asyncio.run(hired(folder))
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    return folder


@pytest.fixture
def at_work(forty_runs: Path, terminal: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder with the runs, which is the current one."""
    monkeypatch.chdir(forty_runs)
    monkeypatch.setenv("GOFER_DATA", str(forty_runs / "state"))
    return forty_runs


@pytest.fixture
def drafted(at_work: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Write the draft into the folder `draft`, and return what the command printed."""
    code, out, err = gofer(capsys, "promote", NAME, "--out", "draft", "--force")
    assert (code, err) == (0, "")
    return out


def without_ids(text: str) -> str:
    """Return a text without the ids of runs and the numbers of issues, which differ each time."""
    text = re.sub(r"\b\d{4}-\d\d-\d\dT\S+Z", "TIME", text)
    return re.sub(r"\bOPS-\d+", "OPS-1", re.sub(r"\b[0-9a-f]{8}\b", "RUN", text))


def blocks(language: str) -> list[str]:
    """Return the blocks of one language of the guide, without the commands in them."""
    found: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    return [re.sub(r"^\$ .*\n", "", block) for block in found]


def test_draft_has_the_path_and_the_origins_of_its_arguments(drafted: str) -> None:
    assert "32 recorded runs; 8 newer runs kept for the verification." in drafted
    assert "31 of 32 take the common path:" in drafted
    assert '    summary      "Prepare laptop for {body.name}, {body.start}"' in drafted
    assert "{key of call 2} and {key of call 3}" in drafted
    assert "    description  judgement (21 different values)" in drafted
    assert "    1 run with jira_create_issue after call 3, such as " in drafted


def test_guide_shows_the_output_of_the_draft(drafted: str) -> None:
    report, _ = blocks("text")
    assert without_ids(drafted) == without_ids(report)
    assert list(map(without_ids, blocks("python"))) == [without_ids(SCRIPT.read_text())]


def test_draft_passes_the_check(drafted: str, at_work: Path, tmp_path: Path) -> None:
    for name in FOLDERS:
        shutil.copytree(at_work / name, tmp_path / name)
    shutil.copytree(at_work / "draft", tmp_path, dirs_exist_ok=True)
    diff = drafted[drafted.index("--- a/") : drafted.rindex("Verify the script")]
    changed = tmp_path / "agents" / f"{NAME}.yaml"
    changed.write_text(applied(changed.read_text(), diff))
    assert [str(mistake) for mistake in mistakes(tmp_path / "agents") if not mistake.is_hint] == []
    assert "coordinator_script: coordinators/new_hire_checklist.py\n" in changed.read_text()


def applied(text: str, diff: str) -> str:
    """Return a text after a diff that only adds lines."""
    before = [line[1:] for line in diff.splitlines()[3:] if line.startswith(" ")]
    after = [line[1:] for line in diff.splitlines()[3:] if line[:1] in (" ", "+") and line]
    assert "\n".join(before) in text
    return text.replace("\n".join(before), "\n".join(after))


def test_verification_explains_a_run_without_reproduction(drafted: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = gofer(capsys, "promote", NAME, "--verify", str(SCRIPT))
    assert code == 1
    _, guide = blocks("text")
    assert without_ids(out) == without_ids(guide)
    code, printed, _ = gofer(capsys, "promote", NAME, "--verify", str(SCRIPT), "--json")
    found = json.loads(printed)
    assert (code, found["reproduced"], found["runs"]) == (1, 39, 40)
    assert found["new"] == {"runs": 8, "reproduced": 8}
    (other,) = found["not_reproduced"]
    assert other["traits"] == ["`body.remote` is true, and always false in reproduced runs"]
    assert f"Colleague {REMOTE + 1}" in other["recorded"]


def verified(capsys: pytest.CaptureFixture[str], change: Callable[[str], str]) -> list[tuple[str, int]]:
    """Return the reproduced calls of the newest runs by an edited script."""
    edited = SCRIPT.with_name("edited.py")
    edited.write_text(change(SCRIPT.read_text()))
    gofer(capsys, "promote", NAME, "--runs", "6", "--verify", str(SCRIPT))
    _, out, _ = gofer(capsys, "promote", NAME, "--runs", "6", "--verify", str(edited), "--json")
    return [(call["tool"], call["reproduced"]) for call in json.loads(out)["calls"]]


def test_changed_words_are_found_in_their_call(drafted: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = verified(capsys, lambda source: source.replace("Prepare laptop", "Prepare a laptop"))
    assert found[:3] == [("jira_search", 6), ("jira_create_issue", 0), ("jira_create_issue", 6)]


def test_name_of_a_channel_reproduces_its_id(drafted: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = verified(capsys, lambda source: source.replace('"C0GENERA0"', '"#general"'))
    assert found[-1] == ("slack_post_message", 6)


def test_script_that_reproduces_every_run_is_a_success(drafted: str, capsys: pytest.CaptureFixture[str]) -> None:
    # The newest runs are those of the last colleagues, and none of these works remotely.
    code, out, _ = gofer(capsys, "promote", NAME, "--runs", str(COLLEAGUES - REMOTE - 3), "--verify", str(SCRIPT))
    assert (code, out.count("10 of 10")) == (0, 5)


def test_script_drafted_from_all_runs_is_no_evidence(drafted: str, capsys: pytest.CaptureFixture[str]) -> None:
    latest = SCRIPT.with_name("latest.py")
    latest.write_text(re.sub(r"until \S+Z", "until 2999-01-01T00:00:00.000Z", SCRIPT.read_text()))
    code, out, _ = gofer(capsys, "promote", NAME, "--runs", "6", "--verify", str(latest))
    assert (code, out.splitlines()[-1]) == (
        3,
        "The script was drafted from all of these runs, so they prove nothing. Verify it after more runs.",
    )


def test_existing_files_are_kept_without_force(drafted: str, capsys: pytest.CaptureFixture[str]) -> None:
    SCRIPT.write_text("# mine\n")
    code, _, err = gofer(capsys, "promote", NAME, "--out", "draft")
    assert code == 2
    assert "new_hire_checklist.py" in err
    assert SCRIPT.read_text() == "# mine\n"


def test_without_a_folder_the_command_writes_no_file(at_work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(path for name in FOLDERS for path in (at_work / name).rglob("*"))
    code, out, _ = gofer(capsys, "promote", NAME, "--json")
    assert code == 0
    assert json.loads(out)["draft"]["written"] is False
    assert sorted(path for name in FOLDERS for path in (at_work / name).rglob("*")) == before


def test_too_few_runs_have_no_draft(at_work: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = gofer(capsys, "promote", NAME, "--runs", "3")
    assert code == 1
    assert out.splitlines()[-1].startswith(
        "No draft: new-hire-checklist has 3 usable recorded runs, and a draft needs 6:"
    )
    code, out, _ = gofer(capsys, "promote", NAME, "--runs", "3", "--json")
    assert (code, json.loads(out)["draft"]) == (1, None)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("no-such-workflow",), "There is no recorded run of 'no-such-workflow'"),
        (("no-such-workflow", "--verify", "coordinators/mark_merged.py"), "There is no recorded run"),
        ((NAME, "--verify", "elsewhere/x.py"), "is not in a folder coordinators/"),
        ((NAME, "--verify", "coordinators/missing.py"), "cannot be loaded"),
        ((NAME, "--force"), "--force replaces the files of a draft"),
        ((NAME, "--out", ""), "--out is empty"),
    ],
)
def test_wrong_input_is_refused(
    at_work: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], reason: str
) -> None:
    code = main(["promote", *words])
    assert code == 2
    assert reason in capsys.readouterr().err
