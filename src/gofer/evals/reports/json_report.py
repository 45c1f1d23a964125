"""The JSON report: the whole result of a suite with a versioned schema, which later suites read as their baseline."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from gofer.evals.reports import wording
from gofer.evals.reports.suite_notes import suite_notes
from gofer.evals.results import SCHEMA_VERSION, SuiteResult
from gofer.values.canonical_json import as_list, as_object, decode
from gofer.values.errors import BadRequest, ConfigError

MOST_BYTES = 100_000_000
"""The most bytes of a report that is read as a baseline."""


class Report(BaseModel):
    """The JSON report of a suite."""

    model_config = ConfigDict(frozen=True, title="Gofer eval report")

    schema_version: Literal[2] = SCHEMA_VERSION
    """The version of this schema. Fields are added within a version; any other change makes a new one."""
    verdict: str
    """The verdict in one line, as every report shows it."""
    exit_code: int
    """0 passed, 1 a case failed, 3 no evidence, 4 infrastructure, 5 over budget, 130 interrupted."""
    evidence: Mapping[wording.Proof, str]
    """What each kind of evidence proves, in words."""
    notes: Sequence[str] = ()
    """Sentences about the whole suite, such as changed prompts that no case loads."""
    result: SuiteResult


_REPORT = TypeAdapter(Report)
_EARLIER = 1
"""The version with verdicts in its comparisons. Everything else in it is as now."""


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
    """Return the result that a JSON report holds, without the comparison that an earlier version wrote.

    Raises ConfigError for a file that is no report of this version or of the one before.
    """
    if path.stat().st_size > MOST_BYTES:
        raise ConfigError(f"The report {path} has more than {MOST_BYTES:,} bytes; write it again with fewer cases.")
    try:
        return _REPORT.validate_python(_present_form(decode(path.read_bytes()))).result
    except BadRequest as error:
        raise ConfigError(f"{path} is no eval report: it is not JSON. Write one with `gofer eval --json`.") from error
    except ValidationError as error:
        problem = f"{path} is no eval report of version {SCHEMA_VERSION} ({_place(error)})"
        raise ConfigError(f"{problem}. Write one with `gofer eval --json`.") from error


def _present_form(report: object) -> object:
    """Return a report of the version before in the present form."""
    fields = as_object(report)
    if fields.get("schema_version") != _EARLIER:
        return report
    result = as_object(fields.get("result"))
    cases = [{**as_object(case), "comparison": None} for case in as_list(result.get("cases"))]
    return {**fields, "schema_version": SCHEMA_VERSION, "result": {**result, "cases": cases, "comparison": None}}


def _place(error: ValidationError) -> str:
    """Return the first mistake with its place, without the value."""
    first = as_object(dict(error.errors(include_input=False, include_url=False)[0]))
    place = ".".join(map(str, error.errors()[0]["loc"]))
    return f"{place or 'the file'}: {first['msg']}"
