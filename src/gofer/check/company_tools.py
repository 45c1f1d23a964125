"""Mistakes in the tools of a company: their imports, declarations and names."""

import ast
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import PydanticUserError

from gofer.check.script_code import MODULES, Module, is_declared
from gofer.check.scripts import declared_packages, read_module
from gofer.tools.company import FOLDER, CompanyTool, UnusableTool, company_files, name_is_taken, read_company
from gofer.tools.definition import AnyTool
from gofer.values.errors import ConfigError
from gofer.workflows.mistake import START, Mistake, Place, Rule
from gofer.workflows.script_module import file_of
from gofer.workflows.script_source import neighbours, nodes
from gofer.workflows.sentences import close_match

API = "gofer.tool"
_QUOTED = 80
_OUTSIDE = frozenset(reason for name, reason in MODULES.items() if name in ("socket", "subprocess"))
"""The effects of modules that open connections or start processes, which are forbidden in tools too."""

_CONNECTIONS = (
    *("open_connection", "open_unix_connection", "start_server", "start_unix_server", "sock_connect"),
    *("create_connection", "create_unix_connection", "create_server", "create_unix_server"),
    "create_datagram_endpoint",
)
"""Functions of asyncio and its loops that open connections."""
_PROGRAMS = ("create_subprocess_exec", "create_subprocess_shell", "subprocess_exec", "subprocess_shell")
"""Functions of asyncio and its loops that start programs."""
_LOOPS = ("get_running_loop", "get_event_loop", "new_event_loop")
"""Functions of asyncio that return an event loop."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of the check of a company's tools."""

    company: Sequence[CompanyTool]
    """All tools of `tools/`; those with mistakes are unusable."""
    tools: Mapping[str, AnyTool]
    """The tools that workflows may list, by name, including unusable ones."""
    mistakes: Sequence[Mistake]


def check_company(root: Path, known: Collection[str]) -> Found:
    """Return the tools of `tools/` below a folder, and every mistake in them.

    `known` contains the names of Gofer's own tools. A module is imported only if its code has no other mistake. The
    environment variables of the tools need not be set.
    """
    modules: dict[str, Module] = {}
    refused: dict[str, UnusableTool] = {}
    mistakes: list[Mistake] = []
    declared = declared_packages(root / "pyproject.toml")
    for path in company_files(root):
        module, wrong = read_module(path, "tool-syntax")
        if module is not None:
            modules[path.stem] = module
            wrong += _check_imports(module, declared)
        if wrong:
            refused[path.stem] = UnusableTool(file_of(path.stem, FOLDER), wrong[0].place.line, wrong[0].message)
        mistakes += wrong
    company = read_company(root, refused)
    # A module that imports a refused one fails with the error of that one.
    known_errors = list(map(str, refused.values()))
    mistakes += [_unusable(root, error) for error in company.failed.values() if str(error) not in known_errors]
    tools: dict[str, CompanyTool] = {}
    for tool in company.tools:
        examined = _examined(tool)
        if tool.module not in company.failed:
            mistakes += _declaration(examined, modules[tool.module], known)
        if tool.name not in known:
            tools[tool.name] = examined
    bound = {name: tool.bind({}) for name, tool in tools.items()}
    return Found(list(tools.values()), bound, list(dict.fromkeys(mistakes)))


def _examined(tool: CompanyTool) -> CompanyTool:
    """Return a tool, or its unusable form if models cannot be told its arguments."""
    try:
        tool.bind({}).schema()
    except (PydanticUserError, RecursionError):
        reason = f"The argument class of `{tool.name}` cannot be turned into a JSON Schema: "
        return tool.as_unusable(
            f"{reason}define the classes that it uses before it, and do not use a class inside itself."
        )
    return tool


def _declaration(tool: CompanyTool, module: Module, known: Collection[str]) -> Iterator[Mistake]:
    reason = tool.unusable
    if tool.name in known:
        reason = name_is_taken(tool.name)
    if reason:
        yield _wrong(module.file, _place_of(module, tool.name), "tool-declaration", reason)


def _unusable(root: Path, error: UnusableTool) -> Mistake:
    if isinstance(error.__cause__, ConfigError):
        return _wrong(root / error.file, Place(error.line), "tool-declaration", error.said)
    message = f"The module cannot be imported: {error.said.rstrip('.')}."
    hint = "Correct the line."
    if isinstance(error.__cause__, ModuleNotFoundError):
        hint = "Correct the line, or install requirements.lock, which `gofer upgrade` makes from pyproject.toml."
    return Mistake(root / error.file, Place(error.line), "tool-import", message, hint)


def _wrong(file: Path, place: Place, rule: Rule, text: str) -> Mistake:
    """Return a mistake from an error text whose part after the colon says what to do."""
    message, _, hint = text.partition(": ")
    hint = hint or "correct it."
    return Mistake(file, place, rule, f"{message.rstrip('.')}.", hint[:1].upper() + hint[1:])


def _place_of(module: Module, name: str) -> Place:
    for node in module.tree.body:
        if isinstance(node, ast.AsyncFunctionDef | ast.FunctionDef) and node.name == name:
            return module.place(node)
    return START


def _check_imports(module: Module, declared: Collection[str]) -> Iterator[Mistake]:
    loops = _names_of_asyncio(module)
    for node in nodes(module.tree):
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield from _check_import(module, node, alias.name, declared)
            case ast.ImportFrom(level=0, module="asyncio" | "asyncio.streams" | "asyncio.subprocess", names=names):
                for alias in names:
                    yield from _check_asyncio(module, node, alias.name)
            case ast.Attribute(value=value, attr=name) if _is_of_asyncio(value, loops):
                yield from _check_asyncio(module, node, name)
            case ast.ImportFrom(level=level, module=name) if level:
                hint = f"Write `from {FOLDER}.{(name or 'name')[:_QUOTED]} import …`."
                yield _import(module, node, "Relative imports do not work in tools.", hint)
            case ast.ImportFrom(module=str(name), names=names) if name in ("gofer", FOLDER):
                for alias in names:
                    yield from _check_import(module, node, f"{name}.{alias.name}", declared)
            case ast.ImportFrom(module="urllib", names=names):
                for alias in names:
                    yield from _check_import(module, node, f"urllib.{alias.name}", declared)
            case ast.ImportFrom(module=str(name)):
                yield from _check_import(module, node, name, declared)
            case ast.Attribute(value=ast.Name(id="os"), attr="environ" | "getenv" | "environb" as name):
                message = f"`os.{name}` reads environment variables that the tool does not declare."
                hint = "Declare them in `secrets=` or `settings=`, and read them with `call.secret` and `call.setting`."
                yield _import(module, node, message, hint)
            case ast.Attribute(value=ast.Name(id="os"), attr="system" | "popen" as name):
                message = f"`os.{name}` starts programs, and tools must not start programs."
                yield _import(module, node, message, "Send with `await call.http.send(HttpRequest(…))`.")
            case _:
                pass
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from _check_neighbours(module, node)


def _check_import(module: Module, node: ast.AST, name: str, declared: Collection[str]) -> Iterator[Mistake]:
    root = name.split(".")[0]
    reason = next((why for banned, why in MODULES.items() if f"{name}.".startswith(f"{banned}.")), None)
    if reason in _OUTSIDE:
        message = f"`{name[:_QUOTED]}` {reason[0]}, and tools may do that only through `call.http`."
        yield _import(module, node, message, "Send with `await call.http.send(HttpRequest(…))`.")
    elif root == "gofer" and name != API and not name.startswith(f"{API}."):
        message = f"`{name[:_QUOTED]}` is an internal part of Gofer, which tools cannot import."
        yield _import(module, node, message, f"Import only from `{API}`.")
    elif root not in (*sys.stdlib_module_names, "gofer", FOLDER) and not is_declared(root, declared):
        message = f"`{root[:_QUOTED]}` is not a package that pyproject.toml declares."
        yield _import(module, node, message, "Add it to `dependencies` in pyproject.toml, or remove the import.")


def _names_of_asyncio(module: Module) -> set[str]:
    """Return the names by which a module refers to asyncio, its submodules and its loops."""
    names = set[str]()
    for node in nodes(module.tree):
        match node:
            case ast.Import(names=imported):
                names |= {alias.asname or "asyncio" for alias in imported if alias.name.split(".")[0] == "asyncio"}
            case ast.ImportFrom(level=0, module="asyncio", names=imported):
                names |= {alias.asname or alias.name for alias in imported if alias.name in ("streams", "subprocess")}
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_loop(value):
                names.add(name)
            case _:
                pass
    return names


def _is_of_asyncio(value: ast.expr, names: Collection[str]) -> bool:
    """Return whether an expression is asyncio, one of its submodules, or a loop."""
    match value:
        case ast.Name(id=name):
            return name in names
        case ast.Attribute(value=inner, attr="streams" | "subprocess"):
            return _is_of_asyncio(inner, names)
        case _:
            return _is_loop(value)


def _is_loop(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name in _LOOPS
        case _:
            return False


def _check_asyncio(module: Module, node: ast.AST, name: str) -> Iterator[Mistake]:
    if name in _CONNECTIONS:
        message = f"`{name}` opens network connections, and tools may do that only through `call.http`."
    elif name in _PROGRAMS:
        message = f"`{name}` starts programs, and tools must not start programs."
    else:
        return
    yield _import(module, node, message, "Send with `await call.http.send(HttpRequest(…))`.")


def _check_neighbours(module: Module, node: ast.Import | ast.ImportFrom) -> Iterator[Mistake]:
    for name in neighbours(ast.Module([node], []), FOLDER):
        if not (module.file.parent / f"{name}.py").is_file():
            meant = close_match(name, sorted(path.stem for path in module.file.parent.glob("*.py")))
            hint = "Create the file, or remove the import."
            if meant:
                hint = f"Write `{FOLDER}.{meant}`."
            yield _import(module, node, f"There is no file `{FOLDER}/{name[:_QUOTED]}.py`.", hint)


def _import(module: Module, node: ast.AST, message: str, hint: str) -> Mistake:
    return Mistake(module.file, module.place(node), "tool-import", message, hint)
