"""Rehearsals, which `make test` leaves out: each one names the tests that prove the same rules in it."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"


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
    return {
        f"{path.relative_to(folder.parent)}::{test.name}": _proofs(test)
        for path in folder.rglob("test_*.py")
        for test in _tests(path)
    }


def _tests(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.parse(path.read_bytes()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield node


def _proofs(test: ast.FunctionDef | ast.AsyncFunctionDef) -> Sequence[str] | None:
    for mark in test.decorator_list:
        if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "pytest.mark.rehearsal":
            return [ast.literal_eval(one) for one in mark.args]
    return None
