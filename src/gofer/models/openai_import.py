"""The import of the `openai` package: without aiohttp, and with each of its types only when a name of it is used.

The package imports hundreds of modules of types, of which a request needs none, and aiohttp where it is installed,
which the HTTP client of Gofer does not use. Both together are more than half of its time and memory.
"""

import ast
import importlib
import logging
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

from typing_extensions import override

_TYPES = "openai.types"
_AIOHTTP = "openai._vendor.httpx_aiohttp"
"""The client of the package over aiohttp, which the package leaves out if it cannot be imported."""


def import_openai(module: str) -> ModuleType:
    """Import a module that imports the package, and return it."""
    later = _Later()
    sys.meta_path.insert(0, later)
    try:
        found = importlib.import_module(module)
    finally:
        sys.meta_path.remove(later)
    # OPENAI_LOG would make the package log each request.
    logging.getLogger("openai").setLevel(logging.WARNING)
    return found


class _Later(MetaPathFinder):
    """Finds packages of types that import their names later, and leaves out aiohttp."""

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname == _AIOHTTP:
            raise ModuleNotFoundError(f"{fullname} is left out", name=fullname)
        if fullname != _TYPES and not fullname.startswith(f"{_TYPES}."):
            return None
        spec = PathFinder.find_spec(fullname, path)
        names = _names(spec)
        if spec is not None and names:
            spec.loader = _NamesLater(names)
        return spec


Names = Mapping[str, tuple[str, str]]
"""The module and the name behind each name of a package, such as `.batch` and `Batch`."""


def _names(spec: ModuleSpec | None) -> Names:
    """Return the names of a package that only imports names of its modules; empty for any other module."""
    if spec is None or spec.submodule_search_locations is None or not isinstance(spec.loader, InspectLoader):
        return {}
    names: dict[str, tuple[str, str]] = {}
    for line in ast.parse(spec.loader.get_source(spec.name) or "").body:
        match line:
            case ast.ImportFrom(module="__future__"):
                pass
            case ast.ImportFrom(module=str(module), level=1):
                names |= {name.asname or name.name: (f".{module}", name.name) for name in line.names}
            case _:
                return {}
    return names


class _NamesLater(Loader):
    """Loads a package without the modules of its names."""

    def __init__(self, names: Names) -> None:
        self._names = names

    @override
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Package(spec.name, self._names)

    @override
    def exec_module(self, module: ModuleType) -> None:
        """Return at once, because the package only imports names."""


class _Package(ModuleType):
    """A package that imports the module of a name when the name is first used."""

    def __init__(self, name: str, names: Names) -> None:
        super().__init__(name)
        self._names = names

    @override
    def __getattr__(self, name: str) -> object:
        if name not in self._names:
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        module, original = self._names[name]
        found: object = getattr(importlib.import_module(module, self.__name__), original)
        setattr(self, name, found)
        return found

    @override
    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self._names})
