"""Mistakes in SARIF 2.1.0 for code hosts, with only the properties that the schema and code hosts require."""

from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from gofer.values.canonical_json import clean
from gofer.workflows.mistake import RULES, Mistake

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def sarif(mistakes: Sequence[Mistake]) -> dict[str, object]:
    """Return the mistakes as one SARIF log."""
    rules = [{"id": rule, "shortDescription": {"text": sentence}} for rule, sentence in RULES.items()]
    driver = {"name": "gofer check", "rules": rules}
    results = [_result(mistake, list(RULES).index(mistake.rule)) for mistake in mistakes]
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(mistake: Mistake, rule: int) -> dict[str, object]:
    level = "error"
    if mistake.is_hint:
        level = "note"
    region = {"startLine": mistake.place.line, "startColumn": mistake.place.column}
    location = {"artifactLocation": {"uri": _uri(mistake.file)}, "region": region}
    return {
        "ruleId": mistake.rule,
        "ruleIndex": rule,
        "level": level,
        "message": {"text": clean(f"{mistake.message} {mistake.hint}")},
        "locations": [{"physicalLocation": location}],
    }


def _uri(file: Path) -> str:
    """Return the URI of a file; a relative path stays relative, because code hosts resolve it in the repository."""
    if file.is_absolute():
        return file.as_uri()
    return quote(file.as_posix())
