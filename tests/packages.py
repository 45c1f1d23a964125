"""The packages of the functions as deploy/package.py makes them, from the libraries of this interpreter."""

import importlib.metadata
import importlib.util
import shutil
import sysconfig
from collections.abc import Mapping
from pathlib import Path, PurePath
from types import ModuleType

from cloud_template import ROOT

LIBRARIES = Path(sysconfig.get_paths()["purelib"])
RUNTIME = ("awslambdaric", "simplejson", "snapshot-restore-py")
"""What Lambda's own image has and no package brings: the runtime client."""


def program() -> ModuleType:
    """deploy/package.py, which is no module of ours."""
    spec = importlib.util.spec_from_file_location("package", ROOT / "deploy" / "package.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


PACKAGE = program()


def packages(folder: Path) -> Mapping[str, Path]:
    """The package of each handler, in a folder of its own, with the bytecode that is here already."""
    made = {handler: folder / handler for handler in PACKAGE.KINDS}
    for handler, target in made.items():
        PACKAGE.package(handler, target, uv="", bytecode=False)
        borrow_bytecode(target)
    return made


def borrow_bytecode(package: Path) -> None:
    """Gives a package the bytecode that is here already: to compile all of it anew takes a minute."""
    for path in package.rglob("*.py"):
        name = path.relative_to(package)
        source = (ROOT / "src" if name.parts[0] == "gofer" else LIBRARIES) / name
        compiled = Path(importlib.util.cache_from_source(str(source)))
        if compiled.is_file():
            (path.parent / "__pycache__").mkdir(exist_ok=True)
            # With its times, so that it is taken for what it is.
            shutil.copy2(compiled, path.parent / "__pycache__")


def runtime(folder: Path) -> Path:
    """Lambda's runtime client, in a folder with nothing else."""
    for name in RUNTIME:
        for file in importlib.metadata.distribution(name).files or ():
            if ".." not in PurePath(file).parts:
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(str(file.locate()), folder / file)
    return folder
