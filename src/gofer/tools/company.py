"""The tools of a company: the modules of `tools/` beside its workflow files."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from gofer.tools.declare import AnyDeclaration, ToolDeclaration, Variables
from gofer.tools.definition import AnyTool
from gofer.values.errors import ConfigError
from gofer.workflows.file_text import read_text
from gofer.workflows.script_module import Modules, file_of, line_of

FOLDER = "tools"
"""The folder of the tools, beside the folder of the workflow files."""


@dataclass(frozen=True, slots=True)
class CompanyTool:
    """One tool of a company."""

    module: str
    """The name of the tool's file, without `.py`."""
    declared: AnyDeclaration

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
        return tool


def company_files(root: Path) -> Sequence[Path]:
    """Return the files of `tools/`, sorted by name."""
    return sorted(path for path in (root / FOLDER).glob("*.py") if not path.stem.startswith("__"))


def load_company(root: Path) -> Sequence[CompanyTool]:
    """Return the tools of `tools/` below a folder; empty without that folder. Raises ConfigError."""
    sources = dict(_sources(root))
    modules = Modules(sources, FOLDER)
    found: dict[int, CompanyTool] = {}
    for module in sources:
        for declared in _declared(modules, module, sources):
            # A module that imports a tool from a neighbour does not declare that tool.
            if declared.act.__module__ == f"{FOLDER}.{module}":
                found[id(declared)] = CompanyTool(module, declared)
    return list(found.values())


def _sources(root: Path) -> Iterator[tuple[str, str]]:
    for path in company_files(root):
        text, _ = read_text(path)
        if text is None:
            raise ConfigError(f"{FOLDER}/{path.name} cannot be read as text; correct it or remove it.")
        yield path.stem, text


def _declared(modules: Modules, module: str, sources: Mapping[str, str]) -> Sequence[AnyDeclaration]:
    try:
        values = vars(modules.load(module)).values()
    except (Exception, SystemExit) as error:
        files = {file_of(name, FOLDER) for name in sources}
        file, line = line_of(error, files) or (file_of(module, FOLDER), 1)
        said = f"{type(error).__name__}: {error}"
        if isinstance(error, ConfigError):
            said = str(error)
        raise UnusableTool(f"{file}:{line}: {said}", file, line, said) from error
    return [cast(AnyDeclaration, value) for value in values if isinstance(value, ToolDeclaration)]


class UnusableTool(ConfigError):
    """A module of `tools/` that cannot be imported: its file, its line and the reason."""

    def __init__(self, text: str, file: str, line: int, said: str) -> None:
        super().__init__(text)
        self.file = file
        self.line = line
        self.said = said
