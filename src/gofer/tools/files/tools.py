"""Which tools over the run's own files are there?"""

from typing import Any

from gofer.files.child import Children
from gofer.tools.definition import Tool
from gofer.tools.files.extract import extract_tools
from gofer.tools.files.load import load_tools
from gofer.tools.files.query import query_tools
from gofer.tools.files.read import read_tools
from gofer.tools.files.search import search_tools


def file_tools(children: Children) -> tuple[Tool[Any], ...]:
    """The tools that every run has over its own files; what is dangerous is done by `children`."""
    return (*read_tools(), *search_tools(), *load_tools(children), *extract_tools(children), *query_tools(children))
