"""Packages of the Lambda functions: complete, reproducible and light for receivers."""

import ast
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.writing import Asked, lock_own_packages, write_repository
from gofer.app.packaging.archive import files, size, zipped
from gofer.app.packaging.bytecode import compile_all
from gofer.app.packaging.imports import refuse_failures
from gofer.app.packaging.packages import KINDS, OWN, copy_own, handler_of
from gofer.app.packaging.packages import package as make_package
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.published import read_compiled
from support.app.local_wheel import declare_phones
from support.aws.function_packages import LIBRARIES, STAGE, borrow_bytecode, linked
from support.aws.template import ROOT
from support.code.syntax import imports

HEAVY = {"boto3", "openai", "pydantic", "yaml", "httpx2", "starlette", "lxml", "PIL", "jsonschema", "slack_bolt", "mcp"}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build the package of a handler, once per handler."""

    @cache
    def made(handler: str) -> Path:
        target = tmp_path_factory.mktemp("packages") / handler
        # Compiling takes longer than all other steps, so it is done once.
        make_package(handler, target, ROOT, "", bytecode=handler == "slack", take=linked)
        if handler != "slack":
            borrow_bytecode(target)
        return target

    return made


@pytest.fixture(params=["slack", "webhook", "schedule", "dashboard", "worker"])
def packaged(request: pytest.FixtureRequest, package: Callable[[str], Path]) -> tuple[str, Path]:
    return request.param, package(request.param)


def alone(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run code with a package and the standard library, as Lambda does: no site-packages, no inherited environment."""
    told = {**STAGE, "PYTHONPATH": str(folder), "LAMBDA_TASK_ROOT": str(folder), "PATH": os.environ["PATH"]}
    words = [sys.executable, "-S", "-s", "-B", "-c", code]
    return subprocess.run(words, cwd=folder, env=told, capture_output=True, text=True, check=False)


def test_package_holds_every_import_of_the_handler(packaged: tuple[str, Path]) -> None:
    handler, folder = packaged
    done = alone(folder, f"import handlers.{handler}; print(callable(handlers.{handler}.handler))")
    assert (done.stdout, done.stderr) == ("True\n", "")


COMMANDS_ONLY = (
    "cli",
    "check",
    "evals",
    "learning",
    "replay",
    "embed.py",
    "app/evals",
    "app/embedded",
    "app/demo",
    "app/backup",
)
"""Folders and modules of `gofer` that no function needs."""


def test_package_has_no_commands_evals_simulators_or_other_handlers(packaged: tuple[str, Path]) -> None:
    handler, folder = packaged
    assert {path.name for path in folder.glob("gofer*")} == {"gofer"}
    assert [name for name in COMMANDS_ONLY if (folder / "gofer" / name).exists()] == []
    assert {path.stem for path in (folder / "handlers").glob("*.py")} == {"__init__", handler}


def test_packaged_modules_import_only_packaged_modules_of_gofer(packaged: tuple[str, Path]) -> None:
    _, folder = packaged
    present = {_module(path, folder) for path in (folder / "gofer").rglob("*.py")}
    assert {name for path in (folder / "gofer").rglob("*.py") for name in _own_imports(path)} - present == set()


def _module(path: Path, folder: Path) -> str:
    return ".".join(path.relative_to(folder).with_suffix("").parts).removesuffix(".__init__")


def _own_imports(path: Path) -> Iterator[str]:
    """Yield the modules of Gofer that a module imports names of."""
    for node in imports(path):
        match node:
            case ast.Import(names=names):
                yield from (name.name for name in names if name.name.split(".")[0] == "gofer")
            case ast.ImportFrom(module=str(module)) if module.split(".")[0] == "gofer":
                yield module
            case _:
                pass


def test_package_holds_the_compiled_workflows(packaged: tuple[str, Path]) -> None:
    _, folder = packaged
    compiled, catalog = read_compiled((folder / "compiled.json").read_bytes()), load_catalog(ROOT / "agents")
    assert set(compiled.to_json()) == {"routes", "hooks", "schedules"}
    assert list(compiled.hooks) == list(catalog.hooks)
    assert len(compiled.schedules) == len(catalog.schedules())


def test_company_tools_are_packaged_with_the_worker_only(tmp_path: Path) -> None:
    company = tmp_path / "company"
    company.mkdir()
    for name in ("handlers", "agents", "subagents", "skills", "coordinators"):
        (company / name).symlink_to(ROOT / name)
    (company / "tools").mkdir()
    (company / "tools" / "oncall.py").write_text('"""On call."""\n')
    for handler in ("worker", "slack", "dashboard"):
        (tmp_path / handler).mkdir()
        copy_own(handler, tmp_path / handler, company)
        assert (tmp_path / handler / "tools" / "oncall.py").exists() == (handler == "worker")


def test_receiver_package_is_small_and_has_no_heavy_library(packaged: tuple[str, Path]) -> None:
    handler, folder = packaged
    found = HEAVY & {path.name for path in folder.iterdir()}
    assert found == set() or handler not in ("slack", "webhook")
    assert size(folder) < (41_000_000 if handler in ("slack", "webhook") else 200_000_000)


COMPUTING = """
import sys
from gofer.files.child_wire import Packet
from gofer.files.sandbox.interpreter import run

# Lambda's own interpreter is outside of the package.
sys.executable = "/var/lang/bin/python3.13"
print(run(Packet({"parts": [{"name": "", "code": "6 * 7"}], "files": []})).data.decode())
"""


def test_worker_package_holds_the_sandbox_interpreter_and_no_other_program(
    package: Callable[[str], Path],
) -> None:
    folder = package("worker")
    done = alone(folder, COMPUTING)
    assert (done.stdout, done.stderr) == ("42\n", "")
    assert [path.name for path in (folder / "bin").iterdir()] == ["monty"]
    assert not (package("slack") / "bin").exists()


def test_packaged_program_stays_executable_in_the_archive(tmp_path: Path) -> None:
    (tmp_path / "package" / "bin").mkdir(parents=True)
    for name, mode in (("monty", 0o755), ("notes", 0o644)):
        (tmp_path / "package" / "bin" / name).write_text("")
        (tmp_path / "package" / "bin" / name).chmod(mode)
    with zipfile.ZipFile(zipped(tmp_path / "package")) as archive:
        modes = {one.filename: oct(one.external_attr >> 16) for one in archive.infolist()}
    assert modes == {"bin/monty": "0o100755", "bin/notes": "0o100644"}


UV = """#!/bin/sh
echo "$@" >> {said}
case "$*" in *--offline*) test -e {cache} || {{ echo "not in the cache" >&2; exit 1; }} ;; esac
while test "$1" != --target; do shift; done
mkdir -p "$2/botocore/data/s3" "$2/bin"
touch "$2/botocore/data/endpoints.json" "$2/botocore/data/s3/x.json" "$2/bin/uvicorn" "$2/library.py" "$2/library.pyi"
"""


@pytest.mark.parametrize("cached", [True, False])
def test_packaging_downloads_only_libraries_missing_in_the_cache(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], *, cached: bool
) -> None:
    uv, said = tmp_path / "uv", tmp_path / "said"
    uv.write_text(UV.format(said=said, cache=tmp_path / "cache"))
    uv.chmod(0o755)
    if cached:
        (tmp_path / "cache").touch()
    make_package("slack", tmp_path / "slack", ROOT, str(uv), bytecode=False)
    asked = said.read_text().splitlines()
    assert ["--offline" in words for words in asked] == ([True] if cached else [True, False])
    assert all("--require-hashes" in words and "--only-binary :all:" in words for words in asked)
    assert capfd.readouterr().err == ""
    assert not list((tmp_path / "slack").rglob("*.pyc"))
    others = {"gofer", "handlers", "compiled.json"}
    brought = {path.relative_to(tmp_path / "slack").as_posix() for path in files(tmp_path / "slack")}
    assert {path for path in brought if path.split("/")[0] not in others} == {
        *("botocore/data/endpoints.json", "library.py")
    }


@pytest.mark.parametrize(
    ("folder", "lacks"),
    [(Path("nowhere"), "There is no folder nowhere/handlers"), (ROOT, "The program no-such-uv is not here")],
)
def test_packaging_names_missing_parts_before_anything_is_changed(tmp_path: Path, folder: Path, lacks: str) -> None:
    (tmp_path / "slack").mkdir()
    (tmp_path / "slack" / "earlier").touch()
    with pytest.raises(ConfigError, match=lacks):
        make_package("slack", tmp_path / "slack", folder, "no-such-uv")
    assert (tmp_path / "slack" / "earlier").exists()


def test_package_of_an_unknown_function_is_refused() -> None:
    with pytest.raises(ConfigError, match="There is no handler for OtherFunction"):
        handler_of("OtherFunction")


def test_package_holds_unchecked_bytecode_of_every_module(package: Callable[[str], Path]) -> None:
    modules = list((package("slack") / "gofer").rglob("*.py"))
    assert len(modules) > 50
    for path in modules:
        (compiled,) = (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc")
        # Flags of PEP 552: hash-based and unchecked.
        assert int.from_bytes(compiled.read_bytes()[4:8], "little") == 0b01


def test_archive_of_equal_files_is_byte_identical(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name / "package").mkdir(parents=True)
        (tmp_path / name / "package" / "b.py").write_text("1")
        (tmp_path / name / "package" / "a.py").write_text("2")
        os.utime(tmp_path / name / "package" / "a.py", (len(name), 1_000_000_000 if name == "one" else 1))
    one, two = (zipped(tmp_path / name / "package").read_bytes() for name in ("one", "two"))
    assert one == two


@pytest.mark.parametrize("kind", sorted(set(KINDS.values())))
def test_packaged_libraries_are_the_tested_versions_pinned_by_hash(kind: str) -> None:
    text = (ROOT / f"locks/{kind}.lock").read_text()
    tested = set(re.findall(r"^([a-z0-9._-]+==\S+)", (ROOT / "locks/runtime.lock").read_text(), re.MULTILINE))
    packed = set(re.findall(r"^([a-z0-9._-]+==\S+)", text, re.MULTILINE))
    assert packed <= tested
    assert len(re.findall(r"--hash=sha256:[0-9a-f]{64}", text)) >= len(packed)
    assert "http" not in re.sub(r"httpx2?\S*|httpcore2\S*", "", text)


def test_module_of_a_library_for_python_2_gets_no_bytecode_and_is_named(tmp_path: Path) -> None:
    library = tmp_path / "olefile"
    library.mkdir()
    (library / "olefile.py").write_text("print(1)\n")
    (library / "olefile2.py").write_text("print 1\n")
    assert compile_all(tmp_path, sys.executable, OWN) == [Path("olefile/olefile2.py")]
    assert [path.name.partition(".")[0] for path in (library / "__pycache__").iterdir()] == ["olefile"]


def test_own_module_that_does_not_compile_ends_the_packaging(tmp_path: Path) -> None:
    module = tmp_path / "tools" / "tracker.py"
    module.parent.mkdir()
    module.write_text("print 1\n")
    with pytest.raises(ConfigError, match=r"tools/tracker\.py could not be compiled: correct the file"):
        compile_all(tmp_path, sys.executable, OWN)


@pytest.mark.parametrize("words", [["package"], ["build-SlackFunction"]])
def test_make_names_the_missing_python_before_anything_is_installed(tmp_path: Path, words: list[str]) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    programs = tmp_path / "bin"
    programs.mkdir()
    for name in ("make", "sh"):
        (programs / name).symlink_to(str(shutil.which(name)))
    (programs / "python3").symlink_to(sys.executable)
    told = [str(programs / "make"), *words]
    done = subprocess.run(told, cwd=tmp_path, env={"PATH": str(programs)}, capture_output=True, text=True, check=False)
    assert (done.returncode, "Python 3.13 is not here" in done.stdout) == (2, True), done
    assert not (tmp_path / ".venv").exists()


def company_of(folder: Path) -> Path:
    """Return the repository of a company that deploys to AWS."""
    write_repository(Asked(folder, STARTERS, aws=True))
    return folder


def test_declared_package_without_a_lock_is_refused_before_anything_changes(tmp_path: Path) -> None:
    root = company_of(tmp_path / "acme")
    declare_phones(root)
    (tmp_path / "worker").mkdir()
    (tmp_path / "worker" / "earlier").touch()
    with pytest.raises(ConfigError, match=r"requirements-own\.lock is not that of acme-phones>=1 .* `gofer upgrade`"):
        make_package("worker", tmp_path / "worker", root, "")
    assert (tmp_path / "worker" / "earlier").exists()


UV_FOR_BOTH = """#!/bin/sh
case "$*" in "python find"*) echo {python}; exit 0 ;; esac
echo "$@" >> {said}
platform=here
case "$*" in *--python-platform*) platform=lambda ;; esac
while test "$1" != --target; do shift; done
mkdir -p "$2"
test $platform = lambda || ln -s {libraries}/* "$2"
"""


def test_modules_are_imported_with_the_locked_libraries_of_this_machine(tmp_path: Path) -> None:
    """The packaged libraries are for another machine."""
    root = company_of(tmp_path / "acme")
    declare_phones(root)
    lock_own_packages(root)
    (root / "coordinators").mkdir(exist_ok=True)
    (root / "coordinators" / "lone.py").write_text("import json\nimport acme_phones\n")
    uv, said = tmp_path / "uv", tmp_path / "said"
    uv.write_text(UV_FOR_BOTH.format(python=sys.executable, said=said, libraries=LIBRARIES))
    uv.chmod(0o755)
    with pytest.raises(ConfigError) as refused:
        make_package("worker", tmp_path / "worker", root, str(uv), bytecode=False)
    assert str(refused.value) == (
        "coordinators/lone.py:2: ModuleNotFoundError: No module named 'acme_phones', because the package of the worker "
        "lacks it. The author of coordinators/lone.py must add the package of `acme_phones` to `dependencies` in "
        "pyproject.toml, and run `gofer upgrade`."
    )
    assert not (tmp_path / "worker").exists()
    asked = said.read_text().splitlines()
    assert ["--python-platform" in one for one in asked] == [True, False]
    assert all(f"-r {root / 'requirements-own.lock'}" in one and "--python-version 3.13" in one for one in asked)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("import acme_phones\n", "must add the package of `acme_phones` to `dependencies` in pyproject.toml"),
        (
            "import sys\nsys.exit(3)\n",
            "tools/phone.py:2: SystemExit: 3, with the libraries of the package of",
        ),
    ],
)
def test_tool_that_cannot_be_imported_against_the_package_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "phone.py").write_text(text)
    (tmp_path / "gofer").symlink_to(ROOT / "src" / "gofer")
    with pytest.raises(ConfigError) as refused:
        refuse_failures(tmp_path, LIBRARIES, sys.executable)
    assert words in str(refused.value)
    assert str(refused.value).startswith("tools/phone.py:")
