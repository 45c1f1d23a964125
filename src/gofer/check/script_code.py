"""The check of a script's syntax tree: forbidden effects and imports, and the calls of its `run`."""

import ast
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

from gofer.sources.triggers import CLIENTS
from gofer.workflows.mistake import Mistake, Place
from gofer.workflows.script_source import FOLDER, nodes
from gofer.workflows.sentences import close_match

_CLOCK = ("reads the clock or waits", "Use `run.now()`; to wait, start another run later.")
_CHANCE = ("returns random values", "Use `run.random()`, which returns the same value when the script is replayed.")
_FILES = ("reads or writes files", "Use a tool with `run.call`; for path names alone, use `PurePosixPath`.")
_NETWORK = ("opens network connections", "Use a tool with `run.call`.")
_PROCESS = ("starts threads or processes", "Use a tool with `run.call`; `run.gather` waits for several calls.")
_SYSTEM = ("reads the machine or its environment", "Use the values of the event, or a tool with `run.call`.")
_TASKS = ("runs tasks outside of the run", "Use `run.gather` to wait for several calls at once.")
_CODE = ("runs text as code", "Write the code directly in the script.")
_PEOPLE = ("reads from or writes to a terminal", "Return the text for people, or use a tool with `run.call`.")
_LEAVING = ("leaves the process", "Use `return`.")

Effect = tuple[str, str]
"""The effect as the end of a sentence, and the hint what to write instead."""

MODULES: Mapping[str, Effect] = {
    **dict.fromkeys(("time", "sched"), _CLOCK),
    **dict.fromkeys(("random", "secrets"), _CHANCE),
    **dict.fromkeys(("shutil", "tempfile", "glob", "fileinput", "mmap", "sqlite3", "dbm", "shelve"), _FILES),
    **dict.fromkeys(
        ("socket", "ssl", "select", "selectors", "http", "urllib.request", "ftplib", "smtplib", "imaplib", "poplib"),
        _NETWORK,
    ),
    **dict.fromkeys(("socketserver", "xmlrpc", "webbrowser", "wsgiref", "telnetlib", "nntplib"), _NETWORK),
    **dict.fromkeys(
        ("requests", "httpx", "httpx2", "aiohttp", "urllib3", "websockets", "boto3", "botocore", "openai", "anthropic"),
        _NETWORK,
    ),
    **dict.fromkeys((*CLIENTS, "starlette", "uvicorn", "paramiko", "psycopg", "redis"), _NETWORK),
    **dict.fromkeys(("subprocess", "multiprocessing", "threading", "concurrent", "signal", "pty"), _PROCESS),
    **dict.fromkeys(("os", "posix", "platform", "getpass", "pwd", "ctypes", "gc", "resource"), _SYSTEM),
    **dict.fromkeys(("asyncio", "anyio", "trio"), _TASKS),
    **dict.fromkeys(("importlib", "runpy", "code", "pickle", "marshal"), _CODE),
}
"""The modules that a script must not import, with their effects."""

NAMES: Mapping[str, Effect] = {
    **dict.fromkeys(
        (
            "datetime.datetime.now",
            "datetime.datetime.utcnow",
            "datetime.datetime.today",
            "datetime.date.today",
        ),
        _CLOCK,
    ),
    **dict.fromkeys(("uuid.uuid1", "uuid.uuid4"), _CHANCE),
    **dict.fromkeys(("pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath", "io.open", "codecs.open"), _FILES),
    **dict.fromkeys(("sys.argv", "sys.modules", "sys.path", "sys.stdin", "sys.stdout", "sys.stderr"), _SYSTEM),
    "sys.exit": _LEAVING,
}
"""The names of other modules that a script must not use, with their effects."""

BUILTINS: Mapping[str, Effect] = {
    "open": _FILES,
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), _CODE),
    **dict.fromkeys(("input", "print", "breakpoint"), _PEOPLE),
    **dict.fromkeys(("exit", "quit"), _LEAVING),
}
"""The built-in names of Python that a script must not use, with their effects."""


API = "gofer.coordinator"
_QUOTED = 80


@dataclass(frozen=True, slots=True)
class Module:
    """One file of a script that is Python."""

    file: Path
    tree: ast.Module
    lines: Sequence[str]

    def place(self, node: ast.AST) -> Place:
        """Return the place at which a node begins. Python counts columns in bytes, and `Place` in characters."""
        line = getattr(node, "lineno", 1)
        column = getattr(node, "col_offset", 0)
        text = ""
        if line <= len(self.lines):
            text = self.lines[line - 1]
        return Place(line, len(text.encode()[:column].decode(errors="ignore")) + 1)


@dataclass(frozen=True, slots=True)
class Use:
    """A tool or a subagent that a script names by a literal text."""

    what: str
    """`call` or `subagent`."""
    name: str
    place: Place


def check_code(module: Module, declared: Collection[str]) -> Iterator[Mistake]:
    """Yield effects outside of `run`, forbidden imports, calls without `await`, and handlers that catch everything."""
    known = _imported(module.tree)
    own = _bound(module.tree)
    for node in _outermost(module.tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from _check_import(module, node, alias.name, declared)
            case ast.ImportFrom(level=level, module=name) if level:
                message = "Relative imports do not work in scripts."
                hint = f"Write `from {FOLDER}.{(name or 'name')[:_QUOTED]} import …`."
                yield Mistake(module.file, module.place(node), "script-import", message, hint)
            case ast.ImportFrom(module=str(name), names=names):
                yield from _check_from(module, node, name, names, declared)
            case ast.Attribute() | ast.Name():
                yield from _check_name(module, node, known, own)
            case ast.ExceptHandler() if _catches_all(node):
                message = "This catches every exception, including those that end the run."
                hint = "Catch `ToolFailed` or `Exception`; to catch everything, end the handler with `raise`."
                yield Mistake(module.file, module.place(node), "script-catch", message, hint)
            case ast.Expr(value=ast.Call(func=ast.Attribute(attr=attr))) if attr in ("call", "subagent", "gather"):
                if _of_run(node.value, runs(module.tree)):
                    message = f"`{attr}` is not awaited, so it never happens."
                    hint = "Write `await` before it."
                    yield Mistake(module.file, module.place(node), "script-await", message, hint)
            case _:
                pass


def _catches_all(handler: ast.ExceptHandler) -> bool:
    """Return whether a handler catches even the exceptions that end a run. A loop around it could never be stopped."""
    if isinstance(handler.type, ast.Tuple):
        caught = handler.type.elts
    else:
        caught = [handler.type]
    everything = any(kind is None or (isinstance(kind, ast.Name) and kind.id == "BaseException") for kind in caught)
    last = handler.body[-1]
    return everything and not (isinstance(last, ast.Raise) and last.exc is None)


def uses(module: Module) -> Iterator[Use]:
    """Yield the tools and subagents that a module names by literal texts."""
    names = runs(module.tree)
    for node in nodes(module.tree):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="call" | "subagent" as what), args=[ast.Constant(value=str(name)), *_]
            ):
                if _of_run(node, names):
                    yield Use(what, name, module.place(node.args[0]))
            case _:
                pass


def runs(tree: ast.Module) -> set[str]:
    """Return the names of runs in a module: `run`, the parameter of `coordinate`, and those annotated with `Run`."""
    functions = [node for node in nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)]
    found = {"run"}
    for function in functions:
        for number, argument in enumerate([*function.args.posonlyargs, *function.args.args]):
            if _is_run(argument.annotation) or (function.name == "coordinate" and not number):
                found.add(argument.arg)
    return found


def _is_run(annotation: ast.expr | None) -> bool:
    match annotation:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.Constant(value=str(name)):
            return name == "Run"
        case _:
            return False


def _of_run(node: ast.AST, names: Collection[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name))):
            return name in names
        case _:
            return False


def _outermost(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node, but of a name such as `a.b.c` only the outermost."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.Attribute) and _dotted(node):
            continue
        waiting.extend(ast.iter_child_nodes(node))


def _dotted(node: ast.AST) -> list[str]:
    """Return the parts of `a.b.c`; empty for an expression that does not begin with a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return [node.id, *reversed(parts)]
    return []


def _imported(tree: ast.Module) -> dict[str, str]:
    """Return the full dotted name of each imported name."""
    found: dict[str, str] = {}
    for node in nodes(tree):
        match node:
            case ast.Import(names=names):
                found |= {alias.asname or alias.name.split(".")[0]: _whole(alias) for alias in names}
            case ast.ImportFrom(module=str(module), names=names, level=0):
                found |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
            case _:
                pass
    return found


def _whole(alias: ast.alias) -> str:
    if alias.asname:
        return alias.name
    return alias.name.split(".")[0]


def _bound(tree: ast.Module) -> set[str]:
    """Return the names that a module defines itself."""
    found: set[str] = set()
    for node in nodes(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
            case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
                found.add(name)
            case _:
                pass
    return found


def _check_name(module: Module, node: ast.AST, known: Mapping[str, str], own: Collection[str]) -> Iterator[Mistake]:
    first, *rest = _dotted(node) or [""]
    if first in known:
        whole = ".".join([known[first], *rest])
        effect = next((effect for name, effect in NAMES.items() if f"{whole}.".startswith(f"{name}.")), None)
    else:
        whole = first
        effect = None
        if first not in own:
            effect = BUILTINS.get(first)
    if effect is not None:
        yield _forbidden(module, node, whole, effect)


def _check_import(module: Module, node: ast.AST, name: str, declared: Collection[str]) -> Iterator[Mistake]:
    root = name.split(".")[0]
    if effect := next((effect for banned, effect in MODULES.items() if f"{name}.".startswith(f"{banned}.")), None):
        yield _forbidden(module, node, name, effect)
    elif root == "gofer" and name != API:
        message = f"`{name[:_QUOTED]}` is an internal part of Gofer, which scripts cannot import."
        yield Mistake(module.file, module.place(node), "script-import", message, f"Import only from `{API}`.")
    elif root == FOLDER:
        yield from _check_neighbour(module, node, name.partition(".")[2])
    elif root not in (*sys.stdlib_module_names, "gofer") and not is_declared(root, declared):
        message = f"`{root[:_QUOTED]}` is not a package that pyproject.toml declares."
        hint = "Add it to `dependencies` in pyproject.toml, or remove the import."
        yield Mistake(module.file, module.place(node), "script-import", message, hint)


def _check_from(
    module: Module, node: ast.AST, name: str, names: Sequence[ast.alias], declared: Collection[str]
) -> Iterator[Mistake]:
    if name in ("gofer", FOLDER) or f"{name}.{names[0].name}" in MODULES:
        for alias in names:
            yield from _check_import(module, node, f"{name}.{alias.name}", declared)
    else:
        yield from _check_import(module, node, name, declared)


def _check_neighbour(module: Module, node: ast.AST, name: str) -> Iterator[Mistake]:
    file = module.file.parent / f"{name}.py"
    if name and not file.is_file():
        meant = close_match(name, sorted(path.stem for path in module.file.parent.glob("*.py")))
        if meant:
            hint = f"Write `{FOLDER}.{meant}`."
        else:
            hint = "Create the file, or remove the import."
        message = f"There is no file `{FOLDER}/{name[:_QUOTED]}.py`."
        yield Mistake(module.file, module.place(node), "missing-script", message, hint)


def is_declared(root: str, declared: Collection[str]) -> bool:
    """Return whether a module belongs to a package that pyproject.toml declares."""
    names = [root, *packages_distributions().get(root, ())]
    return any(_plain(name) in declared for name in names)


def _plain(name: str) -> str:
    return name.lower().replace("_", "-").replace(".", "-")


def _forbidden(module: Module, node: ast.AST, name: str, reason: Effect) -> Mistake:
    message = f"`{name[:_QUOTED]}` {reason[0]}, and in a script only `run` may do that."
    return Mistake(module.file, module.place(node), "script-effect", message, reason[1])
