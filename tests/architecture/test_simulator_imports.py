"""Imports of the simulators: only values of Gofer, and no other vendor."""

import ast
import subprocess
import sys
from pathlib import Path

import gofer_simulators
from support.code.syntax import imports

FOLDER = Path(gofer_simulators.__file__).parent
VALUES = {
    "gofer.values.canonical_json",
    "gofer.values.emoji_names",
    "gofer.values.errors",
    "gofer.values.model_script",
    "gofer.values.visible",
}

REGISTRIES = {"registry", "world_check", "speaker"}
"""The modules that list the vendors."""


def test_simulators_import_only_values_of_gofer() -> None:
    imported = {name for path in FOLDER.rglob("*.py") for name in _imports(path)}
    own = {name for name in imported if name.split(".")[0] in {"gofer", "handlers"}}
    assert {name for name in own if not f"{name}.".startswith("gofer_simulators.")} == VALUES


def test_simulator_of_a_vendor_imports_no_other_vendor() -> None:
    vendors = {"github", "jira", "notion", "slack"}
    for vendor in vendors:
        imported = {name for path in (FOLDER / vendor).rglob("*.py") for name in _imports(path)}
        below = {name.split(".")[1] for name in imported if name.startswith("gofer_simulators.")}
        assert not below & (vendors - {vendor})


def test_shared_simulator_modules_import_no_vendor() -> None:
    for path in FOLDER.glob("*.py"):
        vendors = [name for name in _imports(path) if name.startswith("gofer_simulators.") and name.count(".") > 1]
        assert bool(vendors) == (path.stem in REGISTRIES), path.name


def test_check_of_worlds_loads_no_server() -> None:
    program = "import sys, gofer_simulators.world_check; print('\\n'.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert {"starlette", "uvicorn", "httpx2"}.isdisjoint(loaded)


def _imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in imports(path):
        match node:
            case ast.Import(names=names):
                found |= {alias.name for alias in names}
            case ast.ImportFrom(module=str(module)):
                found.add(module)
            case _:
                pass
    return found
