"""How does the text of a script become something that can be run, and where in it did an error happen?

Every run gets modules of its own, so that nothing one run leaves in a global variable is there for the next.
"""

import builtins
import sys
import traceback
from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import CodeType, ModuleType

from gofer.workflows.script_source import FOLDER, Script


class Modules:
    """The modules of one script in one run. Importing them raises whatever their code raises."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._loaded: dict[str, ModuleType] = {}
        self._folder = ModuleType(FOLDER)

    def load(self, name: str) -> ModuleType:
        """A module of `coordinators`, run once."""
        if name in self._loaded:
            return self._loaded[name]
        if name not in self._script.sources:
            raise ModuleNotFoundError(f"there is no {FOLDER}/{name}.py")
        module = ModuleType(f"{FOLDER}.{name}")
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": self._import}
        self._loaded[name] = module
        setattr(self._folder, name, module)
        before = sys.modules.get(module.__name__)
        # Dataclasses look their own module up there while they are made.
        sys.modules[module.__name__] = module
        try:
            exec(_compiled(self._script.sources[name], file_of(name)), module.__dict__)  # noqa: S102
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
        """What an `import` in a script does: its neighbours are its own, all else is Python's."""
        folder, _, module = name.partition(".")
        if level or folder != FOLDER:
            return builtins.__import__(name, globals, locals, fromlist or (), level)
        found = self.load(module) if module else self._folder
        for wanted in fromlist or ():
            if not module and wanted in self._script.sources:
                self.load(wanted)
        return found if fromlist else self._folder


def file_of(module: str) -> str:
    """The file of a module as people know it."""
    return f"{FOLDER}/{module}.py"


def place_of(error: BaseException, script: Script) -> str:
    """`file:line` of the script where an error happened; its file alone when it happened elsewhere."""
    files = {file_of(module) for module in script.sources}
    cause: BaseException | None = error
    while cause is not None:
        frames = traceback.extract_tb(cause.__traceback__)
        if found := [f"{frame.filename}:{frame.lineno}" for frame in frames if frame.filename in files]:
            return found[-1]
        cause = cause.__cause__
    return script.file


@lru_cache(64)
def _compiled(source: str, file: str) -> CodeType:
    return compile(source, file, "exec", dont_inherit=True)
