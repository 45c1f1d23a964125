"""The list of file tools that every run has, in the order in which the model sees them."""

from gofer.tools.files.documents import extract_file, load_file
from gofer.tools.files.query import file_regex, grep_json, jq
from gofer.tools.files.read import file_read, peek_file

TOOLS = (file_read, peek_file, file_regex, load_file, extract_file, jq, grep_json)
