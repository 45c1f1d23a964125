"""What is in the packages of the functions? Locked libraries, Gofer, the workflows compiled, and bytecode.

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
"""What Lambda's runtime is: python3.13 on Amazon Linux 2023, arm64."""
KINDS: Mapping[str, str] = {
    **dict.fromkeys(PATHS, "ingress"),
    "webhook": "ingress",
    "schedule": "schedule",
    "worker": "worker",
    "dashboard": "dashboard",
}
"""Handlers and the kind of package they are in: each kind has a group in pyproject.toml, and a lock file."""
NEVER = ("cli",)
"""Rooms that no function has."""
FILES: Mapping[str, Sequence[str]] = {
    "worker": ("agents", "subagents", "skills", "coordinators", "tools"),
    "dashboard": ("coordinators",),
}
"""What is read besides code; bundles that are published later stand before the first three."""
SERVICES = ("dynamodb", "s3", "sqs", "ssm", "sts")
"""Of which botocore's descriptions stay: those of all 400 would be most of a package. Doors need none."""
UNREAD = {".c", ".cpp", ".h", ".hpp", ".pxd", ".pxi", ".pyi", ".pyx"}
"""What libraries bring for compilers and editors."""
PROGRAMS = ("monty",)
"""Of the programs that libraries bring, those that Gofer starts: the interpreter of the sandbox, found below `bin/`."""
Take = Callable[[str, str], object]
"""Puts one file to another place."""
_LOCKED = re.compile(r"^([a-z0-9._-]+)==(\S+)( ;)?", re.MULTILINE)


def main(words: Sequence[str]) -> int:
    """Packages what is asked for and prints how large it is."""
    parser = argparse.ArgumentParser(description="Package the functions of template.yaml.")
    parser.add_argument("out", type=Path)
    parser.add_argument("function", nargs="?", help="logical id; without it all functions")
    parser.add_argument("--here", action="store_true", help="for this interpreter instead of Lambda's")
    parser.add_argument("--without-bytecode", action="store_true", help="to measure what bytecode is good for")
    parser.add_argument("--uv", default="uv")
    asked = parser.parse_args(words)
    handlers = [handler_of(asked.function)] if asked.function else list(KINDS)
    for handler in handlers:
        target = asked.out if asked.function else asked.out / handler
        package(handler, target, uv="" if asked.here else asked.uv, bytecode=not asked.without_bytecode)
        if not asked.function:
            archive = zipped(target)
            print(f"{handler:10} {size(target) / 1e6:6.1f} MB, zipped {archive.stat().st_size / 1e6:5.1f} MB")
    return 0


def handler_of(function: str) -> str:
    """The handler of a function by its logical id: `slack` for `SlackFunction`."""
    handlers = {f"{logical_name(handler)}Function": handler for handler in KINDS}
    if function not in handlers:
        sys.exit(f"There is no handler for {function}; write one of {', '.join(KINDS)}, with Function behind it.")
    return handlers[function]


def package(handler: str, target: Path, uv: str, *, bytecode: bool, take: Take = shutil.copy2) -> None:
    """Fills a folder, which is emptied first. Without uv the libraries are those installed here, taken file by file."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    kind = KINDS[handler]
    lock, services = ROOT / f"locks/{kind}.lock", () if kind == "ingress" else SERVICES
    if uv:
        _install(lock, target, uv)
        _prune(target, services)
    else:
        _copy_installed(lock, target, services, take)
    _copy_own(handler, kind, target)
    if bytecode:
        _compile(target, _interpreter(uv) if uv else sys.executable)


def zipped(folder: Path) -> Path:
    """The archive of a folder, beside it: the same bytes for the same files."""
    archive = folder.parent / f"{folder.name}.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as out:
        for path in files(folder):
            entry = zipfile.ZipInfo(path.relative_to(folder).as_posix())
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if path.stat().st_mode & 0o100 else 0o100644) << 16
            out.writestr(entry, path.read_bytes())
    return archive


def size(folder: Path) -> int:
    """Bytes of all files of a folder."""
    return sum(path.stat().st_size for path in files(folder))


def files(folder: Path) -> Sequence[Path]:
    """All files of a folder, in the order of their names."""
    return sorted(path for path in folder.rglob("*") if path.is_file())


def locked(lock: Path) -> Iterator[tuple[str, str, bool]]:
    """Name, version and whether it is for some machines only, of each library of a lock file."""
    for name, version, marker in _LOCKED.findall(lock.read_text()):
        yield name, version, bool(marker)


def _install(lock: Path, target: Path, uv: str) -> None:
    told = [uv, "pip", "install", "--quiet", "--target", str(target), "--python-version", PYTHON]
    told += ["--python-platform", PLATFORM, "--only-binary", ":all:", "--no-deps", "--require-hashes", "-r", str(lock)]
    # What was fetched before is what would be fetched now, for its hash is locked: with all of it no network is needed.
    if subprocess.run([*told, "--offline"], capture_output=True, check=False).returncode:
        _run(told)


def _copy_installed(lock: Path, target: Path, services: Sequence[str], take: Take) -> None:
    """The locked libraries as they are installed here: no registry, no network."""
    there = {name: set[str]() for name, _, _ in locked(lock)}
    for name, version, _ in locked(lock):
        there[name].add(version)
    made = set[PurePath]()
    for name, _, elsewhere in locked(lock):
        try:
            found = importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            if elsewhere:
                continue
            sys.exit(f"{name} is not installed; run `make install`.")
        if found.version not in there[name]:
            sys.exit(f"{name} is installed as {found.version}, and {lock.name} has another; run `make install`.")
        for file in found.files or ():
            # Programs are installed beside libraries here, and below them in a package.
            path = PurePath("bin", file.name) if file.parent.parts[-2:] == ("..", "bin") else PurePath(file)
            if ".." not in path.parts and "__pycache__" not in path.parts and not _spared(path, services):
                if path.parent not in made:
                    (target / path).parent.mkdir(parents=True, exist_ok=True)
                    made.add(path.parent)
                take(str(file.locate()), str(target / path))


def _prune(target: Path, services: Sequence[str]) -> None:
    for path in files(target):
        if _spared(path.relative_to(target), services):
            path.unlink()
    for folder in sorted((path for path in target.rglob("*") if path.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _spared(path: PurePath, services: Sequence[str]) -> bool:
    """Whether a package goes without a file of its libraries, by its path in the package."""
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
    for room in NEVER:
        shutil.rmtree(target / "gofer" / room)
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


def _compile(target: Path, python: str) -> None:
    # By hash, never looked at: the files cannot change, and their times are lost in the archive.
    told = [python, "-m", "compileall", "-q", "-j", "0", "--invalidation-mode", "unchecked-hash"]
    _run([*told, "-s", str(target), "-p", "/var/task", str(target)])


def _interpreter(uv: str) -> str:
    found = subprocess.run([uv, "python", "find", PYTHON], capture_output=True, text=True, check=False)
    if found.returncode:
        sys.exit(
            f"Bytecode for Lambda is made by Python {PYTHON}, which is not here; run `{uv} python install {PYTHON}`."
        )
    return found.stdout.strip()


def _run(told: Sequence[str]) -> None:
    if code := subprocess.run(told, check=False).returncode:
        sys.exit(f"`{' '.join(told[:4])} …` ended with {code}; what it said stands above.")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
