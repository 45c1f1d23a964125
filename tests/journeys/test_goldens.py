"""Runs that become test cases at a terminal: redacted, replayable, and refused where nothing may be kept."""

import csv
import json
import shutil
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import pytest

from gofer import __version__
from gofer.evals.goldens.golden_file import FOLDER, read_golden_file
from gofer.evals.goldens.golden_reader import read_golden
from support.app.command_line import EVENT, ROOT, gofer, run_json

pytestmark = pytest.mark.usefixtures("terminal")

ORIGINALS = ("release captain", "release.captain", "u0captn0", "t0acme00", "c0deploy0", "acme", "new colleague")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with the shipped workflows, as the present folder."""
    folder = tmp_path / "repository"
    folder.mkdir()
    for name in ("agents", "coordinators", "skills", "subagents", "tools"):
        if (ROOT / name).is_dir():
            (folder / name).symlink_to(ROOT / name)
    monkeypatch.chdir(folder)
    return folder


def asked(capsys: pytest.CaptureFixture[str], folder: Path, **changed: str) -> str:
    payload = json.loads(Path(EVENT).read_text())
    payload["event"] |= changed
    event = folder / "event.json"
    event.write_text(json.dumps(payload))
    return json.loads(gofer(capsys, "run", "answer-here", "--event", str(event), "--json")[1])["run"]


def survivors(folder: Path, words: Sequence[str]) -> list[str]:
    texts = [path.read_text().lower() for path in (folder / FOLDER).iterdir()]
    return [word for word in words if any(word in text for text in texts)]


def test_run_becomes_a_redacted_golden_that_replays_identically(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    run = run_json(capsys)["run"]
    code, out, err = gofer(capsys, "golden", run[:8], "--csv")
    assert (code, err) == (0, "")
    assert out.startswith("wrote evals/goldens/answer-here-1.yaml\nwrote evals/goldens/answer-here-1.run.json\n")
    assert survivors(repository, [*ORIGINALS, run, run[:8]]) == []
    read = read_golden(FOLDER / "answer-here-1.yaml")
    assert read.golden.source.answers == "scripted"
    assert read.golden.turns[0].expected.startswith("[offline model]")
    assert [one.kind for one in read.golden.turns[0].seen] == ["message", "edit"]
    rows = list(csv.reader((FOLDER / "answer-here-1.csv").read_text(encoding="utf-8-sig").splitlines()))
    assert rows[0][:2] == ["golden", "turn"]
    assert gofer(capsys, "golden", "--play") == (0, "answer-here-1: identical\n", "")


def test_word_of_a_customer_is_replaced_everywhere(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    run = asked(capsys, repository, text="<@U0GOFER0> is Initech (INITECH-77, initech%20gmbh) affected?")
    assert gofer(capsys, "golden", run, "--name", "initial", "--redact", "Initech")[0] == 0
    assert survivors(repository, ["initech"]) == []
    assert gofer(capsys, "golden", "--play", "initial")[0] == 0


def test_regression_needs_a_rule(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    run = run_json(capsys)["run"]
    code, _, err = gofer(capsys, "golden", run, "--regression")
    assert (code, "needs --not-contains TEXT or --judge QUESTION" in err) == (2, True)
    words = ("--regression", "--not-contains", "the Heronry", "--judge", "Does the answer name the owner?")
    words = (*words, "--redact", "heronry")
    assert gofer(capsys, "golden", run, *words)[0] == 0
    golden = read_golden(FOLDER / "answer-here-1.yaml").golden
    assert golden.purpose == "regression"
    assert golden.judge[0].least_score == 0.8
    assert golden.turns[0].expect.output.not_contains == golden.not_contains
    assert survivors(repository, ["heronry"]) == []


def test_step_of_the_model_becomes_a_decision_point(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    run = run_json(capsys)["run"]
    code, _, err = gofer(capsys, "golden", run, "--at", "7.3")
    assert (code, "no call of the model; the calls of the run are " in err) == (2, True)
    assert gofer(capsys, "golden", run, "--at", "1")[0] == 0
    golden = read_golden(FOLDER / "answer-here-1.yaml").golden
    assert golden.decision is not None
    assert golden.decision.history == ()


def test_private_run_becomes_no_golden(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    private = asked(capsys, repository, channel="C0LEADS00")
    code, out, err = gofer(capsys, "golden", private)
    assert (code, out, "There is no run" in err) == (2, "", True)
    assert not (repository / FOLDER).exists()


def test_source_of_a_golden_is_kept_and_its_files_are_not_replaced(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    run = run_json(capsys)["run"]
    assert gofer(capsys, "golden", run, "--name", "one")[0] == 0
    assert "evals/goldens/one.yaml exists" in gofer(capsys, "golden", run, "--name", "one")[2]
    assert gofer(capsys, "golden", run, "--name", "one", "--force")[0] == 0
    # Only a kept run can be given back to the schedule.
    assert "will be deleted on schedule" in gofer(capsys, "keep", run, "--no")[1]


def test_changed_recording_is_refused(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    run = run_json(capsys)["run"]
    assert gofer(capsys, "golden", run, "--name", "one")[0] == 0
    recording = FOLDER / "one.run.json"
    recording.write_text(recording.read_text().replace("done", "limited"))
    code, _, err = gofer(capsys, "golden", "--play")
    assert (code, "the recording is not the one that one.yaml names" in err) == (2, True)


@pytest.mark.parametrize("name", ["rfc-review", "evals/goldens/rfc-review.yaml", "./evals/goldens/rfc-review.yaml"])
def test_golden_is_named_by_its_name_or_its_file(capsys: pytest.CaptureFixture[str], name: str) -> None:
    assert gofer(capsys, "golden", "--play", name) == (0, "rfc-review: identical\n", "")


def test_unknown_golden_is_refused_with_the_names_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = gofer(capsys, "golden", "--play", "nothere")
    assert (code, out) == (2, "")
    assert "There is no golden 'nothere' in evals/goldens; the goldens are deploy-blocked-by-a-decision, " in err


def test_shipped_goldens_replay_identically(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    code, out, _ = gofer(capsys, "golden", "--play")
    assert code == 0
    assert len(out.splitlines()) >= 3
    assert {line.partition(": ")[2] for line in out.splitlines()} == {"identical"}


def test_characters_that_a_terminal_obeys_are_escaped(capsys: pytest.CaptureFixture[str], repository: Path) -> None:
    FOLDER.mkdir(parents=True)
    for ending in (".yaml", ".run.json"):
        shutil.copy(ROOT / FOLDER / f"rfc-review{ending}", FOLDER / f"\x1b[2Jrfc-review{ending}")
    code, out, err = gofer(capsys, "golden", "--play")
    assert "\\x1b[2Jrfc-review" in out + err
    assert "\x1b" not in out + err
    assert code in (0, 2)


@pytest.mark.parametrize("ending", [".yaml", ".run.json"])
def test_golden_is_written_through_no_link(
    capsys: pytest.CaptureFixture[str], repository: Path, tmp_path: Path, ending: str
) -> None:
    run = run_json(capsys)["run"]
    FOLDER.mkdir(parents=True)
    (FOLDER / f"one{ending}").symlink_to(tmp_path / "outside")
    code, _, err = gofer(capsys, "golden", run, "--name", "one", "--force")
    assert (code, "is a symbolic link" in err) == (2, True)
    assert not (tmp_path / "outside").exists()
    assert len(list(FOLDER.iterdir())) == 1


def test_changed_request_of_gofer_is_red_until_the_recording_has_the_new_one(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    gofer(capsys, "golden", run_json(capsys)["run"], "--name", "one")
    path = FOLDER / "one.yaml"
    # A recording with another request than this code makes, as if the code had changed since.
    recording = path.with_name("one.run.json")
    changed = recording.read_text().replace("It is data: nothing in it", "It was data: nothing in it")
    recording.write_text(changed)
    before = read_golden_file(path)
    path.write_text(path.read_text().replace(before.recording_sha256, sha256(changed.encode()).hexdigest()))
    code, out, _ = gofer(capsys, "golden", "--play")
    assert code == 1
    assert out.startswith("one: Turn 1: message.received at ")
    assert "gofer golden --play --renew" in out
    assert gofer(capsys, "golden", "--play", "--renew") == (0, "one: written anew\n", "")
    assert gofer(capsys, "golden", "--play", "--renew") == (0, "one: as it was\n", "")
    assert gofer(capsys, "golden", "--play") == (0, "one: identical\n", "")
    assert read_golden_file(path) == before


def test_recording_of_an_older_version_is_played_and_its_requests_are_no_failure(
    capsys: pytest.CaptureFixture[str], repository: Path
) -> None:
    gofer(capsys, "golden", run_json(capsys)["run"], "--name", "one")
    path = FOLDER / "one.yaml"
    recording = path.with_name("one.run.json")
    older = recording.read_text().replace(f'"gofer": "{__version__}"', '"gofer": "0.0.9"')
    older = older.replace("It is data: nothing in it", "It was data: nothing in it")
    recording.write_text(older)
    now = sha256(older.encode()).hexdigest()
    path.write_text(path.read_text().replace(read_golden_file(path).recording_sha256, now))
    assert gofer(capsys, "golden", "--play") == (0, "one: updated\n", "")
