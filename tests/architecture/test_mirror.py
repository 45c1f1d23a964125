"""Folders of the tests: unit tests mirror the source, and every support module has a reader."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
ROOMS = ("unit", "contracts", "journeys", "survival", "architecture")
READERS = ("conftest", *ROOMS, "benchmarks", "generators", "policy")


def test_unit_test_file_is_in_the_folder_of_the_tested_module() -> None:
    tests = [path.relative_to(TESTS / "unit") for path in (TESTS / "unit").rglob("test_*.py")]
    assert tests
    assert strays(tests, rooms()) == []


def test_unit_test_in_a_wrong_folder_is_found() -> None:
    source = {Path("engine"): {"step", "script_run"}, Path(): {"engine"}}
    beside = [Path("engine/test_step.py"), Path("engine/test_script_run_files.py"), Path("test_engine.py")]
    assert strays(beside, source) == []
    elsewhere = [Path("engine/test_stepping.py"), Path("engine/test_script.py"), Path("tools/test_step.py")]
    assert strays(elsewhere, source) == [str(path) for path in elsewhere]


def test_folder_of_tests_holds_no_module_but_conftest() -> None:
    assert [path.name for path in TESTS.glob("*.py")] == ["conftest.py"]


def test_folders_hold_tests_and_conftest_only() -> None:
    for room in ROOMS:
        others = [path for path in (TESTS / room).rglob("*.py") if not path.name.startswith(("test_", "conftest."))]
        assert others == []


def test_support_modules_are_used_by_a_test_or_a_generator() -> None:
    files = {_name(path): path for path in TESTS.rglob("*.py")}
    support = {name for name in files if name.startswith("support.")}
    assert support
    assert support - reached(files) - plugins((ROOT / "Makefile").read_text()) == set()


def test_plugins_of_the_makefile_are_read_from_the_calls_of_pytest() -> None:
    assert plugins("replays: ## -p\n\tpytest -p support.replay.replayed_runs tests\n") == {
        "support.replay.replayed_runs"
    }


def test_support_module_used_only_by_an_unused_neighbour_is_found(tmp_path: Path) -> None:
    texts = {
        "unit.test_a": "from support.read import x\nfrom support import by_package\n",
        "support.read": "import support.through\n",
        "support.through": 'HELPER = "support.by_name"\n',
        "support.by_name": "",
        "support.by_package": "",
        "support.left": "from support import beside_left\n",
        "support.beside_left": "",
    }
    files = {name: tmp_path / f"{name}.py" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    assert set(files) - reached(files) == {"support.left", "support.beside_left"}


def strays(tests: Iterable[Path], modules: Mapping[Path, Set[str]]) -> list[str]:
    """Return the tests whose name begins with no module of the room of the same path."""
    return [str(test) for test in tests if not modules.get(test.parent, set()) & _beginnings(test)]


@cache
def rooms() -> Mapping[Path, Set[str]]:
    """Return the names of the modules and folders in each room; `gofer_simulators` is the room `simulators`."""
    found: dict[Path, set[str]] = defaultdict(set)
    for package in (ROOT / "src").glob("gofer*"):
        room = Path(package.name.removeprefix("gofer").removeprefix("_"))
        for path in package.rglob("*"):
            if path.suffix == ".py" or path.is_dir():
                found[room / path.parent.relative_to(package)].add(path.stem)
    return found


def reached(files: Mapping[str, Path]) -> Set[str]:
    """Return the modules that tests and generators read, and those that these read."""
    found: set[str] = set()
    ahead = [name for name in files if name.partition(".")[0] in READERS]
    while ahead:
        name = ahead.pop()
        if name not in found:
            found.add(name)
            ahead += [read for read in _reads(files[name]) if read in files]
    return found


def plugins(makefile: str) -> Set[str]:
    """Return the modules that a Makefile names as plugins of pytest."""
    return set(re.findall(r"\bpytest -p (\S+)", makefile))


def _reads(path: Path) -> Iterator[str]:
    """Yield what a file imports, and its strings: a process is started by the name of its module."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{name.name}" for name in names)
            case ast.Constant(value=str(text)):
                yield text
            case _:
                pass


def _beginnings(test: Path) -> Set[str]:
    words = test.stem.removeprefix("test_").split("_")
    return {"_".join(words[:length]) for length in range(1, len(words) + 1)}


def _name(path: Path) -> str:
    return ".".join(path.relative_to(TESTS).with_suffix("").parts)
