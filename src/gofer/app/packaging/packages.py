"""The package of a function: locked libraries, Gofer, the company's files, the compiled workflows, and bytecode.

Gofer and its locks come from where it is installed. Handlers, workflows, scripts and tools come from the folder of the
company, which in a checkout of Gofer is the checkout.
"""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import gofer
from gofer.app.backup.copied_files import emptied_on_failure
from gofer.app.catalog import mistakes, price_list
from gofer.app.new_repository.locking import OWN_LOCK, is_current, own_requirements
from gofer.app.new_repository.shipped import shipped
from gofer.app.packaging.bytecode import compile_all
from gofer.app.packaging.imports import refuse_failures
from gofer.app.packaging.libraries import SERVICES, Take, check_program, copy_installed, install, interpreter
from gofer.app.source_template import logical_name
from gofer.sources.receivers import PATHS
from gofer.sources.workflow_files import load_catalog
from gofer.values.errors import ConfigError
from gofer.workflows.mistake import refuse
from gofer.workflows.model_roles import FILE as PRICE_LIST
from gofer.workflows.published import Compiled, encode_compiled

KINDS: Mapping[str, str] = {
    **dict.fromkeys(PATHS, "ingress"),
    "webhook": "ingress",
    "schedule": "schedule",
    "worker": "worker",
    "dashboard": "dashboard",
}
"""The kind of package of each handler. Each kind has a group in pyproject.toml, and a lock file."""
NEVER = (
    "__main__.py",
    "app/backup",
    "app/candidates.py",
    "app/catalog.py",
    "app/demo",
    "app/doctor",
    "app/embedded",
    "app/evals",
    "app/event_input.py",
    "app/needed_lines.py",
    "app/new_files",
    "app/new_repository",
    "app/packaging",
    "app/promotion.py",
    "app/replay.py",
    "app/suggestions",
    "app/whole_files.py",
    "check",
    "cli",
    "embed.py",
    "evals",
    "learning",
    "models/price_library.py",
    "models/refusals.py",
    "models/scripted.py",
    "replay",
    "sources/webhook/senders.py",
)
"""The folders and modules of `gofer` that no package contains, because only commands and programs use them."""
_SHIPPED = "shipped"
"""The folder of an installed wheel with what it ships to companies."""
FILES: Mapping[str, Sequence[str]] = {
    "worker": ("agents", "subagents", "skills", "coordinators", "tools"),
    "dashboard": ("coordinators",),
}
"""The folders that a package contains besides code. A published bundle replaces the first three."""
OWN = ("gofer", "handlers", *FILES["worker"])
"""The folders of a package with code of Gofer and of the company, which must always compile."""
IMPORTED = ("tools", "coordinators")
"""The folders with modules that the worker imports."""


def handler_of(function: str) -> str:
    """Return the handler of a function by its logical id, such as `worker` for `WorkerFunction`. Raises ConfigError."""
    handlers = {f"{logical_name(handler)}Function": handler for handler in KINDS}
    if function not in handlers:
        known = ", ".join(KINDS)
        raise ConfigError(f"There is no handler for {function}; write one of {known}, with Function behind it.")
    return handlers[function]


def check_folder(root: Path) -> None:
    """Raise ConfigError if a folder lacks what each package holds."""
    for name in ("handlers", "agents"):
        if not (root / name).is_dir():
            raise ConfigError(f"There is no folder {root / name}; run the command where `gofer init --aws` wrote it.")


def package(
    handler: str, target: Path, root: Path, uv: str, *, bytecode: bool = True, take: Take = shutil.copy2
) -> Sequence[Path]:
    """Make the package of a handler in a folder, which is emptied first. Raises ConfigError.

    Returns the library modules that are not for the Python of the package, and so have no bytecode. With an empty
    `uv`, the libraries are copied with `take` from this interpreter. Missing programs are found before anything is
    installed.
    """
    check_folder(root)
    locks = [shipped() / "locks" / f"{KINDS[handler]}.lock"]
    if KINDS[handler] == "worker":
        locks += _company_locks(root)
    python = sys.executable
    if uv:
        check_program(uv)
    if uv and bytecode:
        python = interpreter(uv)
    shutil.rmtree(target, ignore_errors=True)
    with emptied_on_failure(target):
        target.mkdir(parents=True)
        _add_libraries(KINDS[handler], locks, target, uv, take)
        copy_own(handler, target, root)
        left: Sequence[Path] = ()
        if bytecode:
            left = compile_all(target, python, OWN)
        if KINDS[handler] == "worker" and any((target / name).is_dir() for name in IMPORTED):
            _check_imports(locks, target, uv)
        return left


def _add_libraries(kind: str, locks: Sequence[Path], target: Path, uv: str, take: Take) -> None:
    services = SERVICES
    if kind == "ingress":
        services = ()
    if uv:
        install(locks, target, services, uv)
        return
    for lock in locks:
        copy_installed(lock, target, services, take)


def _company_locks(root: Path) -> Sequence[Path]:
    """Return the lock of the packages that a company declares, if it declares any. Raises ConfigError."""
    wanted = own_requirements(root)
    if wanted and not is_current(root):
        raise ConfigError(
            f"{OWN_LOCK} is not that of {', '.join(wanted)} in pyproject.toml and of this Gofer: run `gofer upgrade`, "
            "and commit the file."
        )
    return [root / OWN_LOCK] if wanted else []


def _check_imports(locks: Sequence[Path], target: Path, uv: str) -> None:
    """Import the company's modules against a package. Raises ConfigError for one that cannot be imported."""
    if not uv:
        refuse_failures(target, target, sys.executable)
        return
    # The package is for another machine, so its libraries are installed once more for this one.
    with TemporaryDirectory() as libraries:
        install(locks, Path(libraries), SERVICES, uv, platform="")
        refuse_failures(target, Path(libraries), interpreter(uv))


def copy_own(handler: str, target: Path, root: Path) -> None:
    """Copy Gofer, the handler and the company's folders into a package, and compile the workflows."""
    _copy_gofer(target)
    (target / "handlers").mkdir()
    for name in ("__init__", handler):
        shutil.copy(root / "handlers" / f"{name}.py", target / "handlers")
    refuse(mistakes(root / "agents"))
    catalog = load_catalog(root / "agents")
    compiled = Compiled("", catalog.routes(), catalog.hooks, catalog.schedules())
    (target / "compiled.json").write_bytes(encode_compiled(compiled))
    for name in FILES.get(KINDS[handler], ()):
        if (root / name).is_dir():
            shutil.copytree(root / name, target / name, ignore=shutil.ignore_patterns("__pycache__"))
    if (target / "agents").is_dir():
        (target / "agents" / PRICE_LIST).write_text(price_list(root / "agents"))


def _copy_gofer(target: Path) -> None:
    source = Path(gofer.__file__).parent
    left_out = {source / name for name in (*NEVER, _SHIPPED)}

    def ignored(folder: str, names: list[str]) -> Sequence[str]:
        return [name for name in names if name == "__pycache__" or Path(folder, name) in left_out]

    shutil.copytree(source, target / "gofer", ignore=ignored)
