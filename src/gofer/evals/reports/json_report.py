"""The JSON report: the whole result of a suite with a versioned schema, which later suites read as their baseline."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from gofer.evals.reports import wording
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.results import SCHEMA_VERSION, SuiteResult
from gofer.values.canonical_json import as_object
from gofer.values.errors import ConfigError

MOST_BYTES = 100_000_000
"""The most bytes of a report that is read as a baseline."""


class Report(BaseModel):
    """The JSON report of a suite."""

    model_config = ConfigDict(frozen=True, title="Gofer eval report")

    schema_version: Literal[1] = SCHEMA_VERSION
    """The version of this schema. Fields are added within a version; any other change makes a new one."""
    verdict: str
    """The verdict in one line, as every report shows it."""
    exit_code: int
    """0 passed, 1 failed or regressed, 3 no evidence, 4 infrastructure, 5 over budget, 130 interrupted."""
    evidence: Mapping[wording.Proof, str]
    """What each kind of evidence proves, in words."""
    notes: Sequence[str] = ()
    """Sentences about the whole suite, such as changed prompts that no case loads."""
    result: SuiteResult


_REPORT = TypeAdapter(Report)


def report_json(result: SuiteResult) -> str:
    """Return the report of a suite as JSON text, ending in a line break."""
    report = Report(
        verdict=wording.headline(result),
        exit_code=result.exit_code,
        evidence=wording.EVIDENCE,
        notes=list(suite_notes(result)),
        result=result,
    )
    return f"{report.model_dump_json(indent=1)}\n"


def report_schema() -> Mapping[str, object]:
    """Return the JSON Schema of the report."""
    schema = Report.model_json_schema(mode="serialization")
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def read_report(path: Path) -> SuiteResult:
    """Return the result that a JSON report holds. Raises ConfigError for a file that is no report of this version."""
    if not path.is_file():
        raise ConfigError(f"There is no report {path}; write one with `gofer eval --json {path}`.")
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(f"The report {path} has more than {MOST_BYTES:,} bytes; write it again with fewer cases.")
    try:
        return _REPORT.validate_json(path.read_bytes()).result
    except ValidationError as error:
        raise ConfigError(f"{path} is no eval report of version {SCHEMA_VERSION}: {_place(error)}.") from error


def _place(error: ValidationError) -> str:
    """Return the first mistake with its place, without the value."""
    first = as_object(dict(error.errors(include_input=False, include_url=False)[0]))
    place = ".".join(map(str, error.errors()[0]["loc"]))
    return f"{place or 'the file'}: {first['msg']}"
