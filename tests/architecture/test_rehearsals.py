"""Rehearsals, which `make test` leaves out: each one names the tests that prove the same rules in it."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
_TEST = re.compile(rb"^(?:async )?def (test_\w+)\(", re.MULTILINE)


def test_rehearsal_names_tests_of_make_test_that_prove_the_same_rules() -> None:
    rehearsals = {name: proofs for name, proofs in marked(TESTS).items() if proofs is not None}
    assert rehearsals
    assert missing(marked(TESTS)) == []


def test_rehearsal_with_a_lost_proof_or_none_is_found(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    text = (
        '@pytest.mark.rehearsal("tests/test_a.py::{}")\ndef test_long() -> None: ...\ndef test_short() -> None: ...\n'
    )
    (tmp_path / "tests" / "test_a.py").write_text(text.format("test_short"))
    assert missing(marked(tmp_path / "tests")) == []
    for lost in ("test_gone", "test_long"):
        (tmp_path / "tests" / "test_a.py").write_text(text.format(lost))
        assert missing(marked(tmp_path / "tests")) == [f"tests/test_a.py::test_long: tests/test_a.py::{lost}"]
    (tmp_path / "tests" / "test_a.py").write_text("@pytest.mark.rehearsal()\ndef test_long() -> None: ...\n")
    assert missing(marked(tmp_path / "tests")) == ["tests/test_a.py::test_long: no test"]


def missing(tests: Mapping[str, Sequence[str] | None]) -> list[str]:
    """Return each rehearsal with what it names and `make test` does not run."""
    found: list[str] = []
    for name, proofs in tests.items():
        if proofs is None:
            continue
        lost = [proof for proof in proofs if proof not in tests or tests[proof] is not None]
        found += [f"{name}: {proof}" for proof in lost or ([] if proofs else ["no test"])]
    return found


def marked(folder: Path) -> dict[str, Sequence[str] | None]:
    """Return all tests below a folder; a rehearsal with the tests that it names, each other test with None."""
    found: dict[str, Sequence[str] | None] = {}
    for path in folder.rglob("test_*.py"):
        source = path.read_bytes()
        place = path.relative_to(folder.parent)
        found |= {f"{place}::{name.decode()}": None for name in _TEST.findall(source)}
        # Only a few files have rehearsals, and parsing all takes seconds.
        if b"mark.rehearsal(" in source:
            found |= {f"{place}::{name}": proofs for name, proofs in _rehearsals(source)}
    return found


def _rehearsals(source: bytes) -> Iterator[tuple[str, Sequence[str]]]:
    for test in ast.parse(source).body:
        if isinstance(test, ast.FunctionDef | ast.AsyncFunctionDef):
            for mark in test.decorator_list:
                if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.rehearsal":
                    yield test.name, [ast.literal_eval(one) for one in mark.args]
