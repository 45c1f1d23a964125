"""Finished runs are kept in a private file, and only unchanged ones continue a suite."""

from pathlib import Path

from gofer.evals.kept_runs import KeptRun, KeptRuns, unchanged
from gofer.evals.results import CaseRun, Grade, RunOutcome


def kept(number: int, fingerprint: str = "same", outcome: RunOutcome = "failed") -> KeptRun:
    grade = Grade("output.contains_any", passed=False, expected="“ticket”", happened="“Nein.”", step="7.0")
    run = CaseRun(number=number, outcome=outcome, runs=["ab12"], grades=[grade], evidence="live", cost_usd=0.25)
    return KeptRun("tickets/a", fingerprint, run)


def test_kept_runs_are_read_back_unchanged(tmp_path: Path) -> None:
    file = KeptRuns(tmp_path / "state" / "runs.jsonl")
    assert file.read() == []
    file.keep(kept(1))
    file.keep(kept(2))
    assert [(one.run.number, one.run.cost_usd, one.run.grades[0].happened) for one in file.read()] == [
        (1, 0.25, "“Nein.”"),
        (2, 0.25, "“Nein.”"),
    ]
    file.forget()
    assert file.read() == []


def test_kept_runs_are_readable_for_their_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "state" / "runs.jsonl"
    KeptRuns(path).keep(kept(1))
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0


def test_half_line_of_a_killed_process_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    file = KeptRuns(path)
    file.keep(kept(1))
    file.keep(kept(2))
    path.write_bytes(path.read_bytes()[:-20])
    assert [one.run.number for one in file.read()] == [1]


def test_run_after_a_half_line_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "runs.jsonl"
    file = KeptRuns(path)
    file.keep(kept(1))
    path.write_bytes(path.read_bytes()[:-20])
    file.keep(kept(2))
    assert [one.run.number for one in file.read()] == [2]


def test_changed_case_and_failed_infrastructure_are_played_again() -> None:
    every = [kept(1), kept(2, "other"), kept(3, outcome="infrastructure"), kept(4), kept(4)]
    assert [run.number for run in unchanged(every, {"tickets/a": "same"})["tickets/a"]] == [1, 4]
    assert unchanged(every, {"tickets/b": "same"}) == {}
