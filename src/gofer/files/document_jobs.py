"""The helper process for documents, and its jobs. No other process imports the libraries for documents."""

import contextlib
import ctypes

from gofer.files import decoder, jq_child, json_grep
from gofer.files.child_wire import Limits
from gofer.files.extract import archive, pdf, picture, reader
from gofer.files.fork import Work, serve

JOBS: dict[str, Work] = {
    "draw_pages": pdf.draw,
    "extract": reader.run,
    "grep_json": json_grep.run,
    "jq": jq_child.run,
    "member": archive.member,
    "pages": pdf.count,
    "resize": picture.resize,
}

SEALED = frozenset({"jq"})
"""The jobs that run a program of a model. They cannot open files."""


_TRIM, _MAP = -1, -3
"""The options M_TRIM_THRESHOLD and M_MMAP_THRESHOLD of glibc's `mallopt`."""


def main(control: float, memory: float, seconds: float, wall: float) -> None:
    """Serve jobs over the socket with the file descriptor `control` until it is closed."""
    picture.prepare()
    decoder.prepare()
    _keep_freed_memory()
    serve(JOBS, SEALED, int(control), Limits(int(memory), seconds, wall))


def _keep_freed_memory() -> None:
    """Keep freed memory, because returning it after each page of a PDF adds 20 % to the time of its text."""
    with contextlib.suppress(OSError, AttributeError):  # Other C libraries have no `mallopt`.
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM, 64 << 20)
        mallopt(_MAP, 4 << 20)
