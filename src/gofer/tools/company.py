"""The tools of a company: the modules of `tools/` beside its workflow files."""

import contextlib
import re
import sys
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from pydantic import ConfigDict

from gofer.tools.company_http import hosts_in, hosts_of, within
from gofer.tools.contained import Misbehaved, has_half_character
from gofer.tools.declare import AnyDeclaration, ToolDeclaration, ToolVariables, Variables
from gofer.tools.definition import AnyTool, Arguments, Call, ToolResult
from gofer.values.errors import ConfigError, ToolError
from gofer.values.foreign_code import RAISED, is_from_outside
from gofer.workflows.file_text import read_text
from gofer.workflows.script_module import Modules, file_of, line_of

FOLDER = "tools"
"""The folder of the tools, beside the folder of the workflow files."""
_DECLARED = re.compile(r"^@[\w.]*tool\b.*?^(?:async +)?def +(\w+)", re.MULTILINE | re.DOTALL)
"""A tool in the text of a module that cannot be imported."""
Act = Callable[[Call, Arguments], Awaitable[ToolResult]]
_SAID = 300
"""The most characters of an error that a sentence quotes."""


class UnusableTool(ConfigError):
    """A module of `tools/` that cannot be used: its file, its line and the reason."""

    def __init__(self, file: str, line: int, said: str) -> None:
        super().__init__(f"{file}:{line}: {said}")
        self.file = file
        self.line = line
        self.said = said


@dataclass(frozen=True, slots=True)
class CompanyTool:
    """One tool of a company."""

    module: str
    """The name of the tool's file, without `.py`."""
    declared: AnyDeclaration
    unusable: str = ""
    """Why the tool cannot be used; empty for a usable tool."""
    hosts: frozenset[str] = frozenset()
    """The hosts that the modules of `tools/` name."""

    @property
    def name(self) -> str:
        """The name of the tool."""
        return self.declared.name

    @property
    def file(self) -> str:
        """The path of the tool's file in the repository."""
        return file_of(self.module, FOLDER)

    @property
    def variables(self) -> Sequence[str]:
        """The names of all environment variables that the tool may read."""
        return (*self.declared.variables.secrets, *self.declared.variables.settings)

    def bind(self, variables: Variables) -> AnyTool:
        """Return the bound tool. Raises ConfigError for an incomplete declaration."""
        if self.declared.takes_client:
            raise ConfigError(
                f"The tool {self.name} takes a client, but tools in `{FOLDER}/` have no client: make the call "
                f"the first parameter."
            )
        system = self.declared.options.get("system") or self.module.replace("_", " ")
        tool = self.declared.bind(None, system=system, variables=variables)
        if tool.base or tool.internal:
            raise ConfigError(
                f"Tools in `{FOLDER}/` cannot use `base` and `internal`: remove them from the tool {self.name}."
            )
        hosts = (hosts_of(variables), self.hosts)
        look = tool.in_doubt.look
        if look is not None:
            tool = replace(tool, in_doubt=replace(tool.in_doubt, look=within(look, *hosts)))
        target = replace(tool.target, reach=True)
        return replace(tool, act=_strict(within(tool.act, *hosts)), target=target, unusable=self.unusable)

    def as_unusable(self, reason: str) -> "CompanyTool":
        """Return the tool in a form that runs without its module and refuses each call for a reason."""
        return replace(self, declared=_stand_in(self.name, reason), unusable=reason)


def _strict(act: Act) -> Act:
    """Return the function of a tool, as one that raises Misbehaved for odd errors, and texts that no file can have."""

    async def checked(call: Call, arguments: Arguments) -> ToolResult:
        try:
            result = await act(call, arguments)
        except BaseException as error:
            if isinstance(error, RAISED) or is_from_outside(error):
                raise
            raise Misbehaved(f"it raised {type(error).__name__}") from error
        if has_half_character(result):
            raise Misbehaved("it returned text with a lone surrogate, which is half of a character")
        return result

    return checked


@dataclass(frozen=True, slots=True)
class Company:
    """The tools of a company, and the modules without which it has to do."""

    tools: Sequence[CompanyTool]
    """All tools, including the unusable ones."""
    failed: Mapping[str, UnusableTool]
    """The modules that cannot be used, by name."""


def company_files(root: Path) -> Sequence[Path]:
    """Return the files of `tools/`, sorted by name."""
    return sorted(path for path in (root / FOLDER).glob("*.py") if not path.stem.startswith("__"))


def load_company(root: Path) -> Sequence[CompanyTool]:
    """Return the tools of `tools/` below a folder, as `read_company` does; empty without that folder."""
    return read_company(root, {}).tools


def read_company(root: Path, refused: Mapping[str, UnusableTool]) -> Company:
    """Return the tools of `tools/` below a folder. A module that cannot be used costs its own tools and no others.

    The modules in `refused` are not imported. What a module prints while it is imported goes to stderr.
    """
    texts: dict[str, str] = {}
    failed = dict(refused)
    for path in company_files(root):
        text, wrong = read_text(path)
        if text is None:
            failed.setdefault(path.stem, UnusableTool(f"{FOLDER}/{path.name}", wrong[0].place.line, wrong[0].message))
        texts[path.stem] = text or ""
    modules = Modules(texts, FOLDER, failed)
    found: list[CompanyTool] = []
    for module, text in texts.items():
        try:
            found += [CompanyTool(module, declared) for declared in _declared(modules, module, texts)]
        except UnusableTool as error:
            failed[module] = error
            names = dict.fromkeys(_DECLARED.findall(text))
            found += [CompanyTool(module, _stand_in(name, str(error)), str(error)) for name in names]
    names = Counter(tool.name for tool in found)
    hosts = hosts_in(texts.values())
    found = [replace(tool, hosts=hosts) for tool in found]
    return Company([_examined(tool, names[tool.name]) for tool in found], failed)


def unusable_tools(company: Sequence[CompanyTool]) -> Mapping[str, Sequence[str]]:
    """Return the reasons why tools cannot be used, each with the names of those tools."""
    found: dict[str, list[str]] = {}
    for tool in company:
        if tool.unusable:
            found.setdefault(tool.unusable, []).append(tool.name)
    return found


def _examined(tool: CompanyTool, times: int) -> CompanyTool:
    """Return a tool, or its unusable form if it cannot be bound or if `times` tools have its name."""
    try:
        tool.bind({})
        if times > 1:
            return tool.as_unusable(name_is_taken(tool.name))
    except ConfigError as error:
        return tool.as_unusable(str(error))
    return tool


def name_is_taken(name: str) -> str:
    """Return the sentence about a tool with the name of another one."""
    return f"Another tool has the name `{name}`: give the function another name."


class _AnyArguments(Arguments):
    """The arguments of a tool from a module that cannot be imported."""

    model_config = ConfigDict(extra="allow")


def _stand_in(name: str, reason: str) -> AnyDeclaration:
    async def refuse(call: Call, arguments: _AnyArguments) -> ToolResult:
        raise ToolError(f"The tool {name} cannot be used. {reason}")

    said = f"Cannot be used: {reason}"
    return ToolDeclaration(name, said, _AnyArguments, refuse, {"effect": "read"}, ToolVariables())


def _declared(modules: Modules, module: str, texts: Mapping[str, str]) -> Sequence[AnyDeclaration]:
    """Return the tools that a module declares. Raises UnusableTool."""
    try:
        # Commands print JSON on stdout.
        with contextlib.redirect_stdout(sys.stderr):
            values = vars(modules.load(module)).values()
    except UnusableTool:
        raise
    except BaseException as error:
        if is_from_outside(error):
            raise
        # A module may also leave the process or cancel its task.
        raise unusable(error, module, texts) from error
    declared = [cast(AnyDeclaration, value) for value in values if isinstance(value, ToolDeclaration)]
    # A module that imports a tool from a neighbour does not declare that tool.
    own = {id(one): one for one in declared if one.act.__module__ == f"{FOLDER}.{module}"}
    return list(own.values())


def unusable(error: BaseException, module: str, texts: Mapping[str, str], folder: str = FOLDER) -> UnusableTool:
    """Return the place and the reason of a module that cannot be imported. `texts` are all modules of its folder."""
    files = {file_of(name, folder) for name in texts}
    file, line = line_of(error, files) or (file_of(module, folder), 1)
    if isinstance(error, SyntaxError) and error.filename in files:
        file = error.filename
        line = error.lineno or 1
    said = f"{type(error).__name__}: {error}"
    if isinstance(error, ConfigError):
        said = str(error)
    return UnusableTool(file, line, " ".join(said.split())[:_SAID])
