"""The packages of the functions as `gofer package` makes them, from the libraries of this interpreter."""

import importlib.metadata
import os
import shutil
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path, PurePath

from gofer.app.packaging.packages import KINDS, package
from support.aws.template import ROOT

LIBRARIES = Path(sysconfig.get_paths()["purelib"])
RUNTIME = ("awslambdaric", "simplejson", "snapshot-restore-py")
"""The distributions of the runtime client, which Lambda's image has and no package contains."""


STAGE = {
    "GOFER_STAGE": "test",
    "GOFER_PARAMETERS": "/gofer/test/",
    "GOFER_TABLE": "table",
    "GOFER_KEYS_TABLE": "keys",
    "GOFER_BUCKET": "bucket",
    "GOFER_QUEUE_URL": "http://127.0.0.1:9/queue",
    "GOFER_DEAD_LETTER_URL": "http://127.0.0.1:9/dead",
    "AWS_REGION": "eu-central-1",
    "AWS_ACCESS_KEY_ID": "nobody",
    "AWS_SECRET_ACCESS_KEY": "nothing",
}
"""The environment variables of a function, without the rights of anybody."""


def packages(folder: Path) -> Mapping[str, Path]:
    """Build the package of each handler in a folder of its own, with the existing bytecode.

    Packages of one kind differ only in their handler; all other files are shared.
    """
    made: dict[str, Path] = {}
    first: dict[str, str] = {}
    for handler, kind in KINDS.items():
        made[handler] = folder / handler
        if kind in first:
            shutil.copytree(made[first[kind]], made[handler], copy_function=linked)
            (made[handler] / "handlers" / f"{first[kind]}.py").unlink()
            shutil.copy(ROOT / "handlers" / f"{handler}.py", made[handler] / "handlers")
        else:
            first[kind] = handler
            package(handler, made[handler], ROOT, "", bytecode=False, take=linked)
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


def borrow_bytecode(made: Path) -> None:
    """Copy existing bytecode into a package: compiling it again takes a minute."""
    tag = sys.implementation.cache_tag
    for folder in {path.parent for path in made.rglob("*.py")}:
        below = folder.relative_to(made)
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
