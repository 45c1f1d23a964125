"""The tools that every run has over its own files, in the order in which a model reads of them."""

from gofer.tools.files.extract import extract_file
from gofer.tools.files.load import load_file
from gofer.tools.files.query import grep_json, jq
from gofer.tools.files.read import file_read, peek_file
from gofer.tools.files.search import file_regex

TOOLS = (file_read, peek_file, file_regex, load_file, extract_file, jq, grep_json)
