"""The packages of the functions as deploy/package.py makes them, from the libraries of this interpreter."""

import importlib.metadata
import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path, PurePath
from types import ModuleType

from support.aws.template import ROOT

LIBRARIES = Path(sysconfig.get_paths()["purelib"])
RUNTIME = ("awslambdaric", "simplejson", "snapshot-restore-py")
"""The distributions of the runtime client, which Lambda's image has and no package contains."""


def program() -> ModuleType:
    """Load deploy/package.py, which is outside the package."""
    spec = importlib.util.spec_from_file_location("package", ROOT / "deploy" / "package.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PACKAGE = program()


def packages(folder: Path) -> Mapping[str, Path]:
    """Build the package of each handler in a folder of its own, with the existing bytecode.

    Packages of one kind differ only in their handler; all other files are shared.
    """
    made: dict[str, Path] = {}
    first: dict[str, str] = {}
    for handler, kind in PACKAGE.KINDS.items():
        made[handler] = folder / handler
        if kind in first:
            shutil.copytree(made[first[kind]], made[handler], copy_function=linked)
            (made[handler] / "handlers" / f"{first[kind]}.py").unlink()
            shutil.copy(ROOT / "handlers" / f"{handler}.py", made[handler] / "handlers")
        else:
            first[kind] = handler
            PACKAGE.package(handler, made[handler], uv="", bytecode=False, take=linked)
            borrow_bytecode(made[handler])
    return made


def linked(source: str, target: str) -> None:
    """Link a file that is never changed to another place, or copy it where links are impossible."""
    try:
        os.link(source, target)
    except FileExistsError:
        # Some libraries list a file twice; a copy over the link would overwrite the installed file.
        return
    except OSError:
        shutil.copy2(source, target)


def borrow_bytecode(package: Path) -> None:
    """Copy existing bytecode into a package: compiling it again takes a minute."""
    tag = sys.implementation.cache_tag
    for folder in {path.parent for path in package.rglob("*.py")}:
        below = folder.relative_to(package)
        cache = (ROOT / "src" if below.parts[:1] == ("gofer",) else LIBRARIES) / below / "__pycache__"
        here = folder / "__pycache__"
        for compiled in cache.glob(f"*.{tag}.pyc"):
            if (folder / f"{compiled.name.split('.')[0]}.py").exists():
                here.mkdir(exist_ok=True)
                # With its timestamps, so that Python accepts it.
                linked(str(compiled), str(here / compiled.name))


def runtime(folder: Path) -> Path:
    """Return a folder with Lambda's runtime client and nothing else."""
    for name in RUNTIME:
        for file in importlib.metadata.distribution(name).files or ():
            if ".." not in PurePath(file).parts:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(str(file.locate()), folder / file)
    return folder
