"""The helper process for documents, and its jobs. No other process imports the libraries for documents."""

import contextlib
import ctypes
import importlib
from collections.abc import Mapping
from functools import partial
from typing import NoReturn, Protocol, cast

from gofer.files import decoder, jq_child, json_grep
from gofer.files.child_wire import Limits, Packet
from gofer.files.extract import archive, reader
from gofer.files.extract.readers import Readers
from gofer.files.fork import Work, serve
from gofer.values.errors import ToolError
from gofer.values.parts import is_installed

_LIBRARY_JOBS = ("draw_pages", "pages", "resize")


class LibraryJobs(Protocol):
    """The module `library_jobs`, which only an installation with the part `files` can import."""

    READERS: Readers
    JOBS: Mapping[str, Work]

    def prepare(self) -> None:
        """Load the decoders of all formats of images."""
        ...


def jobs() -> Mapping[str, Work]:
    """Return the jobs of this installation by their names. Those of a missing part raise ToolError."""
    readers = reader.WITHOUT_LIBRARIES
    drawing: Mapping[str, Work] = dict.fromkeys(_LIBRARY_JOBS, _refuse)
    if is_installed("files"):
        libraries = cast(LibraryJobs, importlib.import_module("gofer.files.library_jobs"))
        libraries.prepare()
        readers |= libraries.READERS
        drawing = libraries.JOBS
    return {
        "extract": partial(reader.run, readers),
        "grep_json": json_grep.run,
        "jq": jq_child.run,
        "member": archive.member,
        **drawing,
    }


def _refuse(packet: Packet) -> NoReturn:
    raise ToolError(f"This is an image or a PDF, {reader.NOT_INSTALLED}", code="not_installed")


SEALED = frozenset({"jq"})
"""The jobs that run a program of a model. They cannot open files."""


_TRIM, _MAP = -1, -3
"""The options M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's `mallopt`."""


def main(control: float, memory: float, seconds: float, wall: float) -> None:
    """Serve jobs over the socket with the file descriptor `control` until it is closed."""
    served = jobs()
    decoder.prepare()
    _keep_freed_memory()
    serve(served, SEALED, int(control), Limits(int(memory), seconds, wall))


def _keep_freed_memory() -> None:
    """Keep freed memory, because returning it after each page of a PDF adds 20 % to the time of its text."""
    with contextlib.suppress(OSError, AttributeError):  # Other C libraries have no `mallopt`.
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM, 64 << 20)
        mallopt(_MAP, 4 << 20)
