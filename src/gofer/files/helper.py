"""The helper process: which jobs does it know? The only one that imports libraries for documents."""

from gofer.files import jq_child, json_grep
from gofer.files.extract import pdf, picture, reader
from gofer.files.fork import Work, serve

JOBS: dict[str, Work] = {
    "extract": reader.run,
    "grep_json": json_grep.run,
    "jq": jq_child.run,
    "pages": pdf.count,
    "resize": picture.resize,
}

SEALED = frozenset({"jq"})
"""Jobs whose program comes from a model: they cannot open files."""


def main(control: float, memory: float, seconds: float) -> None:
    """Serves jobs over the socket that has the number `control`, until it is closed."""
    picture.prepare()
    serve(JOBS, SEALED, int(control), int(memory), seconds)
