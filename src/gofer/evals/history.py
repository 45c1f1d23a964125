"""The history of the scores of a case: one line for each of its runs, which outlives the run.

Each case has a file of JSON lines below the state of evals. Lines are only appended. A file above FILE_BYTES is
replaced by the newest half of its bytes, so its size is bounded and each line is copied about once. A line without its
end, which a killed process left, is ignored. The lines have names and numbers only, and no contents.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from gofer.evals.results import CaseRun
from gofer.journal.grade_entries import Evidence, RunOutcome

FOLDER = "history"
"""The subfolder of the state of evals with the files."""
FILE_BYTES = 1_000_000
"""The bytes of a file from which on only its newest half is kept, which is about a thousand runs."""
LONGEST = 20_000
"""The most bytes of a line. Of a run with more, the verdicts are left out."""
_LONGEST_NAME = 240
"""The most bytes of the name of a file, without its suffix."""

Text = Annotated[str, Field(max_length=1_000)]


class PastRun(BaseModel):
    """One graded run of a case, as its history keeps it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    case: Text
    """`<file>/<case>`, without the suffix of the file."""
    suite_at: float
    """Unix seconds of the begin of its `gofer eval`, which groups the runs that were played together."""
    number: int
    commit: Text = ""
    """The commit of the files; empty if there is none."""
    changed: bool = False
    """Whether the files differed from the commit."""
    agent_version: Text = ""
    """The hash of the bundle: workflow, prompt, skills and tools."""
    models: tuple[Text, ...] = ()
    evidence: Evidence
    outcome: RunOutcome
    verdicts: dict[str, bool] = Field(default_factory=dict[str, bool])
    """Whether each dimension with a verdict passed; of several grades of a dimension, whether all passed."""
    latency_ms: int = 0
    cost_usd: float | None = None
    """None if the price of a model was unknown."""
    input_tokens: int = 0
    output_tokens: int = 0
    runs: tuple[Text, ...] = ()
    """The ids of the runs, one for each turn. Their contents are deleted with the retention of runs."""


def past_run(case: str, run: CaseRun, suite_at: float, commit: str = "", *, changed: bool = False) -> PastRun:
    """Return the line for a graded run of a case; `commit` and `changed` as in `SuiteResult`."""
    verdicts: dict[str, bool] = {}
    for grade in run.grades:
        if grade.missing:
            continue
        verdicts[grade.dimension] = grade.passed and verdicts.get(grade.dimension, True)
    return PastRun(
        case=case,
        suite_at=suite_at,
        number=run.number,
        commit=commit,
        changed=changed,
        agent_version=run.agent_version,
        models=tuple(run.models),
        evidence=run.evidence,
        outcome=run.outcome,
        verdicts=verdicts,
        latency_ms=run.latency_ms,
        cost_usd=run.cost_usd,
        input_tokens=run.input_tokens,
        output_tokens=run.output_tokens,
        runs=tuple(run.runs),
    )


def append(state: Path, past: PastRun) -> None:
    """Append a run to the history of its case; `state` is the folder of the state of evals. Raises OSError.

    Only the process that serves the state may call this.
    """
    path = _path(state, past.case)
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    line = past.model_dump_json(exclude_defaults=True).encode()
    if len(line) > LONGEST:
        line = past.model_copy(update={"verdicts": {}}).model_dump_json(exclude_defaults=True).encode()
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        if _is_torn(handle):
            line = b"\n" + line
        os.write(handle, line + b"\n")
        os.fsync(handle)
    finally:
        os.close(handle)
    _shorten(path)


def read(state: Path, case: str) -> Sequence[PastRun]:
    """Return the kept runs of a case, the oldest first; none for a case without a history.

    Raises OSError.
    """
    found: list[PastRun] = []
    for line in _lines(_path(state, case)):
        with contextlib.suppress(ValidationError):
            found.append(PastRun.model_validate_json(line))
    # Two very long names can have one file.
    return [past for past in found if past.case == case]


def _path(state: Path, case: str) -> Path:
    return state / FOLDER / f"{quote(case, safe='')[:_LONGEST_NAME]}.jsonl"


def _is_torn(handle: int) -> bool:
    """Return whether the file ends within a line."""
    size = os.fstat(handle).st_size
    return size > 0 and os.pread(handle, 1, size - 1) != b"\n"


def _lines(path: Path) -> Sequence[bytes]:
    """Return the complete lines of a file."""
    try:
        # The last part is empty, or a line without its end.
        return path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return ()


def _shorten(path: Path) -> None:
    """Replace a file that has become too long by its newest lines."""
    if path.stat().st_size <= FILE_BYTES:
        return
    newest = path.read_bytes()[-FILE_BYTES // 2 :]
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        # The first line is most likely cut.
        file.write(newest[newest.index(b"\n") + 1 :])
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
