"""Modules created from the text of scripts and company tools, and the place of an error in them.

Each run of a script gets its own modules, so that runs share no global variables.
"""

import builtins
import sys
import traceback
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from types import CodeType, ModuleType

from gofer.workflows.script_source import FOLDER, Script


class Modules:
    """The modules of one folder, created from their texts. An import raises the errors of the module's code.

    The import of a module in `refused` raises the error there.
    """

    def __init__(
        self, sources: Mapping[str, str], folder: str = FOLDER, refused: Mapping[str, Exception] | None = None
    ) -> None:
        self._sources = sources
        self._refused = refused or {}
        self._name = folder
        self._loaded: dict[str, ModuleType] = {}
        self._folder = ModuleType(folder)

    def load(self, name: str) -> ModuleType:
        """Return a module of the folder. Its code runs only at the first call."""
        if name in self._loaded:
            return self._loaded[name]
        if name in self._refused:
            raise self._refused[name]
        if name not in self._sources:
            raise ModuleNotFoundError(f"there is no {file_of(name, self._name)}")
        module = ModuleType(f"{self._name}.{name}")
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        self._loaded[name] = module
        setattr(self._folder, name, module)
        before = sys.modules.get(module.__name__)
        # The decorator of dataclasses looks up the module of its class in `sys.modules`.
        sys.modules[module.__name__] = module
        try:
            exec(_compiled(self._sources[name], file_of(name, self._name)), module.__dict__)  # noqa: S102
        except BaseException:
            # Another import must not get the part of the module that ran before the error.
            del self._loaded[name]
            raise
        finally:
            if before is None:
                del sys.modules[module.__name__]
            else:
                sys.modules[module.__name__] = before
        return module

    def _import(
        self,
        name: str,
        globals: Mapping[str, object] | None = None,  # noqa: A002
        locals: Mapping[str, object] | None = None,  # noqa: A002
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        """Import a module for a script: modules of its folder from `sources`, every other module from Python."""
        folder, _, module = name.partition(".")
        if level or folder != self._name:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        found = self._folder
        if module:
            found = self.load(module)
        for imported in fromlist or ():
            if not module and imported in self._sources:
                self.load(imported)
        if fromlist:
            return found
        return self._folder


def file_of(module: str, folder: str = FOLDER) -> str:
    """Return the path of a module's file in the repository."""
    return f"{folder}/{module}.py"


def place_of(error: BaseException, script: Script) -> str:
    """Return the `file:line` of an error in the script; only the script's file when the error happened elsewhere."""
    found = line_of(error, {file_of(module) for module in script.sources})
    if found is None:
        return script.file
    file, line = found
    return f"{file}:{line}"


def line_of(error: BaseException, files: Collection[str]) -> tuple[str, int] | None:
    """Return file and line of the innermost frame of an error in some files; None without such a frame."""
    cause: BaseException | None = error
    while cause is not None:
        frames = traceback.extract_tb(cause.__traceback__)
        found = [(frame.filename, frame.lineno or 1) for frame in frames if frame.filename in files]
        if found:
            return found[-1]
        cause = cause.__cause__
    return None


@lru_cache(64)
def _compiled(source: str, file: str) -> CodeType:
    return compile(source, file, "exec", dont_inherit=True)
