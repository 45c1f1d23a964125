"""The helper process for documents and its jobs: the only one that imports libraries for documents."""

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
"""Jobs with a program that comes from a model: they cannot open files."""


_TRIM, _MAP = -1, -3
"""What `mallopt` of glibc calls how much free memory is kept, and from which size on a block is mapped by itself."""


def main(control: float, memory: float, seconds: float, wall: float) -> None:
    """Serve jobs over the socket that has the number `control`, until it is closed."""
    picture.prepare()
    decoder.prepare()
    _keep_freed_memory()
    serve(JOBS, SEALED, int(control), Limits(int(memory), seconds, wall))


def _keep_freed_memory() -> None:
    """Keep freed memory: to give it back between two pages of a PDF costs a fifth of the time its text takes."""
    with contextlib.suppress(OSError, AttributeError):  # Another library for memory has no such thing.
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_TRIM, 64 << 20)
        mallopt(_MAP, 4 << 20)
