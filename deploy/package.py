"""The packages of the functions: locked libraries, Gofer, the compiled workflows, and bytecode.

    python deploy/package.py OUT SlackFunction         one function for Lambda, as `sam build` asks for it
    python deploy/package.py build/functions           all of them for Lambda, each in a folder, and zipped beside it
    python deploy/package.py build/functions --here    the same for this interpreter, from the libraries installed here

Run it with the interpreter that has Gofer installed.
"""

import argparse
import importlib.metadata
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from gofer.app.catalog import checked_catalog, price_list
from gofer.app.source_template import logical_name
from gofer.sources.receivers import PATHS
from gofer.workflows.model_roles import FILE as PRICE_LIST
from gofer.workflows.published import Compiled, encode_compiled

ROOT = Path(__file__).parents[1]
PYTHON, PLATFORM = "3.13", "aarch64-manylinux_2_34"
"""The interpreter and the platform of Lambda's runtime: python3.13 on Amazon Linux 2023, arm64."""
KINDS: Mapping[str, str] = {
    **dict.fromkeys(PATHS, "ingress"),
    "webhook": "ingress",
    "schedule": "schedule",
    "worker": "worker",
    "dashboard": "dashboard",
}
"""The kind of package of each handler. Each kind has a group in pyproject.toml, and a lock file."""
NEVER = (
    "app/backup",
    "app/candidates.py",
    "app/catalog.py",
    "app/demo",
    "app/doctor",
    "app/embedded",
    "app/evals",
    "app/event_input.py",
    "app/new_files",
    "app/new_repository",
    "app/replay.py",
    "app/suggestions",
    "check",
    "cli",
    "embed.py",
    "evals",
    "learning",
    "app/promotion.py",
    "replay",
)
"""The folders and modules of `gofer` that no package contains, because only commands and programs use them."""
FILES: Mapping[str, Sequence[str]] = {
    "worker": ("agents", "subagents", "skills", "coordinators", "tools"),
    "dashboard": ("coordinators",),
}
"""The folders that a package contains besides code. A published bundle replaces the first three."""
OWN = ("gofer", "handlers", *FILES["worker"])
"""The folders of a package with code of Gofer and of the company, which must always compile."""
SERVICES = ("dynamodb", "s3", "sqs", "ssm", "sts")
"""The services whose descriptions botocore keeps. All 400 would be most of a package. Receivers need none."""
UNREAD = {".c", ".cpp", ".h", ".hpp", ".pxd", ".pxi", ".pyi", ".pyx"}
"""The suffixes of library files for compilers and editors, which are left out."""
PROGRAMS = ("monty",)
"""The programs of libraries that Gofer starts, found below `bin/`: the interpreter of the sandbox."""
Take = Callable[[str, str], object]
"""Copies or links a file to another path."""
_LOCKED = re.compile(r"^([a-z0-9._-]+)==(\S+)( ;)?", re.MULTILINE)


def main(words: Sequence[str]) -> int:
    """Make the requested packages and print their sizes."""
    parser = argparse.ArgumentParser(description="Package the functions of template.yaml.")
    parser.add_argument("out", type=Path)
    parser.add_argument("function", nargs="?", help="logical id; without it all functions")
    parser.add_argument("--here", action="store_true", help="for this interpreter instead of Lambda's")
    parser.add_argument("--without-bytecode", action="store_true", help="to measure what bytecode is good for")
    parser.add_argument("--uv", default="uv")
    options = parser.parse_args(words)
    bytecode = not options.without_bytecode
    uv = options.uv
    if options.here:
        uv = ""
    if options.function:
        package(handler_of(options.function), options.out, uv=uv, bytecode=bytecode)
        return 0
    for handler in KINDS:
        target = options.out / handler
        package(handler, target, uv=uv, bytecode=bytecode)
        archive = zipped(target)
        print(f"{handler:10} {size(target) / 1e6:6.1f} MB, zipped {archive.stat().st_size / 1e6:5.1f} MB")
    return 0


def handler_of(function: str) -> str:
    """Return the handler of a function by its logical id, such as `slack` for `SlackFunction`."""
    handlers = {f"{logical_name(handler)}Function": handler for handler in KINDS}
    if function not in handlers:
        sys.exit(f"There is no handler for {function}; write one of {', '.join(KINDS)}, with Function behind it.")
    return handlers[function]


def package(handler: str, target: Path, uv: str, *, bytecode: bool, take: Take = shutil.copy2) -> None:
    """Make the package of a handler in a folder, which is emptied first.

    With an empty `uv`, the libraries are copied with `take` from this interpreter.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    kind = KINDS[handler]
    lock = ROOT / f"locks/{kind}.lock"
    services = SERVICES
    if kind == "ingress":
        services = ()
    if uv:
        _install(lock, target, uv)
        _prune(target, services)
    else:
        _copy_installed(lock, target, services, take)
    _copy_own(handler, kind, target)
    if bytecode:
        python = sys.executable
        if uv:
            python = _interpreter(uv)
        compile_all(target, python)


def zipped(folder: Path) -> Path:
    """Zip a folder into an archive beside it and return the archive. The same files make the same bytes."""
    archive = folder.parent / f"{folder.name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            entry.compress_type = zipfile.ZIP_DEFLATED
            mode = 0o100644
            if path.stat().st_mode & 0o100:
                mode = 0o100755
            entry.external_attr = mode << 16
            out.writestr(entry, path.read_bytes())
    return archive


def size(folder: Path) -> int:
    """Return the size of all files of a folder in bytes."""
    return sum(path.stat().st_size for path in files(folder))


def files(folder: Path) -> Sequence[Path]:
    """Return all files of a folder, ordered by path."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def locked(lock: Path) -> Iterator[tuple[str, str, bool]]:
    """Yield name, version, and whether it is for some platforms only, of each library in a lock file."""
    for name, version, marker in _LOCKED.findall(lock.read_text()):
        yield name, version, bool(marker)


def _install(lock: Path, target: Path, uv: str) -> None:
    words = [uv, "pip", "install", "--quiet", "--target", str(target), "--python-version", PYTHON]
    words += ["--python-platform", PLATFORM, "--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", str(lock)]
    # The hashes are locked, so cached files are the right ones. If all are cached, no network is needed.
    if subprocess.run([*words, "--offline"], capture_output=True, check=False).returncode:
        _run(words)


def _copy_installed(lock: Path, target: Path, services: Sequence[str], take: Take) -> None:
    """Copy the locked libraries from this interpreter, without a registry or network."""
    versions = {name: set[str]() for name, _, _ in locked(lock)}
    for name, version, _ in locked(lock):
        versions[name].add(version)
    created = set[PurePath]()
    for name, _, is_optional in locked(lock):
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if is_optional:
                continue
            sys.exit(f"{name} is not installed; run `make install`.")
        if found.version not in versions[name]:
            sys.exit(f"{name} is installed as {found.version}, and {lock.name} has another; run `make install`.")
        for file in found.files or ():
            # An interpreter has its programs beside the libraries. A package has them in `bin/` below the libraries.
            path = PurePath(file)
            if file.parent.parts[-2:] == ("..", "bin"):
                path = PurePath("bin", file.name)
            if ".." in path.parts or "__pycache__" in path.parts or _is_left_out(path, services):
                continue
            if path.parent not in created:
                (target / path).parent.mkdir(parents=True, exist_ok=True)
                created.add(path.parent)
            take(str(file.locate()), str(target / path))


def _prune(target: Path, services: Sequence[str]) -> None:
    for path in files(target):
        if _is_left_out(path.relative_to(target), services):
            path.unlink()
    for folder in sorted((path for path in target.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _is_left_out(path: PurePath, services: Sequence[str]) -> bool:
    """Return whether a package leaves out a library file, by its path in the package."""
    match path.parts:
        case ("bin", program):
            return program not in PROGRAMS
        case ("botocore", "data", service, _, *_):
            return service not in services
        case _:
            return path.suffix in UNREAD


def _copy_own(handler: str, kind: str, target: Path) -> None:
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src" / "gofer", target / "gofer", ignore=skipped)
    for name in NEVER:
        left_out = target / "gofer" / name
        if left_out.is_dir():
            shutil.rmtree(left_out)
        else:
            left_out.unlink()
    (target / "handlers").mkdir()
    for name in ("__init__", handler):
        shutil.copy(ROOT / "handlers" / f"{name}.py", target / "handlers")
    catalog = checked_catalog(ROOT / "agents")
    compiled = Compiled("", catalog.routes(), catalog.hooks, catalog.schedules())
    (target / "compiled.json").write_bytes(encode_compiled(compiled))
    if kind in FILES:
        for name in FILES[kind]:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target / name, ignore=skipped)
        if (target / "agents").is_dir():
            (target / "agents" / PRICE_LIST).write_text(price_list(ROOT / "agents"))


def compile_all(target: Path, python: str) -> Sequence[Path]:
    """Compile the modules of a package; return the modules of libraries that are not for this Python, without bytecode.

    Some libraries contain a module for Python 2 that they never import. Every other failure ends the program.
    """
    # Unchecked hashes, because the files never change, and the archive loses their modification times.
    words = [python, "-m", "compileall", "-qq", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    code = subprocess.run([*words, "-s", str(target), "-p", "/var/task", str(target)], check=False).returncode
    if not code:
        return []
    left = [path for path in files(target) if path.suffix == ".py" and not _has_bytecode(path)]
    wrong = [path for path in left if path.relative_to(target).parts[0] in OWN or _is_valid(path, python)]
    if wrong or not left:
        named = ", ".join(str(path) for path in wrong) or str(target)
        sys.exit(f"{named} could not be compiled: correct the file, or make room and its folder writable.")
    for path in left:
        print(f"{path.relative_to(target)} is not for this Python, so it has no bytecode.", file=sys.stderr)
    return left


def _has_bytecode(path: Path) -> bool:
    return any((path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"))


def _is_valid(path: Path, python: str) -> bool:
    """Return whether a module has the syntax of this Python."""
    program = "import ast, sys; ast.parse(open(sys.argv[1], 'rb').read())"
    return subprocess.run([python, "-c", program, str(path)], capture_output=True, check=False).returncode == 0


def _interpreter(uv: str) -> str:
    found = subprocess.run([uv, "python", "find", PYTHON], capture_output=True, text=True, check=False)
    if found.returncode:
        sys.exit(
            f"Bytecode for Lambda is made by Python {PYTHON}, which is not here; run `{uv} python install {PYTHON}`."
        )
    return found.stdout.strip()


def _run(words: Sequence[str]) -> None:
    if code := subprocess.run(words, check=False).returncode:
        sys.exit(f"`{' '.join(words[:4])} …` failed with exit code {code}; its output is above.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
