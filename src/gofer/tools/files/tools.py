"""Which tools over the run's own files are there?"""

from typing import Any

from gofer.tools.files.load import load_tools
from gofer.tools.files.read import read_tools
from gofer.tools.tool import Tool


def file_tools() -> tuple[Tool[Any], ...]:
    """The tools that every run has over its own files."""
    return (*read_tools(), *load_tools())
