"""`gofer extract`: prints the text that a model would read of a document."""

import argparse
import asyncio
import json
import shlex
import sys
from pathlib import Path

from gofer.cli.arguments import number
from gofer.files.child import LARGEST, Children
from gofer.files.completeness import Wanted, incomplete
from gofer.files.document import Document, extract, member_of
from gofer.values.canonical_json import one_line
from gofer.values.errors import ToolError
from gofer.values.missing import Missing

_SECOND = 1.0
_EXAMPLES = """examples:
  gofer extract report.pdf
  gofer extract --json *.docx *.xlsx
  gofer extract --first-page 2001 long.pdf
  gofer extract --sheet Costs --first-row 200001 big.xlsx
  gofer extract --member docs/report.pdf all.zip
  curl -s https://example.com/ | gofer extract -

The command reads PDF, Word, PowerPoint, Excel (also .xls and .ods), OpenDocument, CSV, web pages, e-mails, Jupyter
notebooks and plain text. For an image it prints the size. For a ZIP, tar or gzip archive it lists the files, and
--member reads one of them. The content of a file decides its type, not its name. If a text is incomplete, stderr says
which part is missing and which option reads it. With --json each file is one line: {file, media_type, text, notes,
error}, with `missing` for an incomplete text. Notes describe the reading, such as a guessed encoding.
Exit codes: 0 every file was read, 1 the reader could not start, 2 a file could not be read.
"""


def options(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `gofer extract`."""
    parser.add_argument("files", nargs="+", metavar="FILE", help="documents; - is stdin")
    parser.add_argument("--json", action="store_true", help="print one JSON object for each file")
    pages = "the first page to read of a PDF (default 1)"
    parser.add_argument("--first-page", type=number(1, 1_000_000), default=1, metavar="N", help=pages)
    parser.add_argument(
        "--last-page", type=number(1, 1_000_000), default=0, metavar="N", help="the last page to read of a PDF"
    )
    rows = "the first row to read of a sheet or a CSV (default 1)"
    parser.add_argument("--first-row", type=number(1, 10_000_000), default=1, metavar="N", help=rows)
    parser.add_argument("--sheet", default="", metavar="NAME", help="the sheet to read of a workbook (default: all)")
    path = "the path of the file to read in an archive"
    parser.add_argument("--member", default="", metavar="PATH", help=path)
    read_as = "the encoding of a text, such as windows-1252 (default: the declared encoding, or a guess)"
    parser.add_argument("--encoding", default="", metavar="NAME", help=read_as)
    parser.epilog = _EXAMPLES


def execute(arguments: argparse.Namespace) -> int:
    """Print the text of each document."""
    children = Children(at_once=1)
    failed = False
    try:
        for name in arguments.files:
            result = asyncio.run(_read(children, name, arguments))
            failed = failed or isinstance(result, str)
            if arguments.json:
                print(_line(name, result), flush=True)
            else:
                _show(name, result, several=len(arguments.files) > 1)
    finally:
        children.close()
    if failed:
        return 2
    return 0


async def _read(children: Children, name: str, arguments: argparse.Namespace) -> Document | str:
    """Return the document, or a sentence that says why it cannot be read."""
    try:
        # Reading stops one byte after the limit, which is enough to refuse the file.
        data = await asyncio.to_thread(_bytes, name)
    except FileNotFoundError:
        return "There is no such file; check the name."
    except IsADirectoryError:
        return "This is a folder; name files in it."
    except (OSError, ValueError):
        return "The file cannot be read; check its permissions."
    file_name = name
    if name == "-":
        file_name = ""
    reading = asyncio.ensure_future(_extracted(children, data, file_name, arguments))
    if sys.stderr.isatty():
        await asyncio.wait([reading], timeout=_SECOND)
        if not reading.done():
            print(f"Reading {name} …", file=sys.stderr)
    try:
        return await reading
    except ToolError as error:
        return error.message_to_model


async def _extracted(children: Children, data: bytes, name: str, arguments: argparse.Namespace) -> Document:
    if arguments.member:
        entry = await member_of(children, data, arguments.member, name=Path(name).name)
        data = entry.data
        name = entry.name
    wanted = Wanted(
        first_page=arguments.first_page,
        last_page=arguments.last_page,
        first_row=arguments.first_row,
        sheet=arguments.sheet,
    )
    return await extract(children, data, name=name, wanted=wanted, encoding=arguments.encoding)


def _bytes(name: str) -> bytes:
    if name == "-":
        return sys.stdin.buffer.read(LARGEST + 1)
    with Path(name).open("rb") as file:
        return file.read(LARGEST + 1)


def _line(name: str, result: Document | str) -> str:
    fields: dict[str, object] = {"file": name, "media_type": None, "text": None, "notes": [], "error": None}
    if isinstance(result, str):
        fields["error"] = result
    else:
        fields |= {"media_type": result.kind.media_type, "text": result.text, "notes": result.notes}
        if result.missing:
            fields["missing"] = incomplete(result.missing, "The text", _option)
    return one_line(json.dumps(fields, ensure_ascii=False))


def _show(name: str, result: Document | str, *, several: bool) -> None:
    if isinstance(result, str):
        print(f"gofer: {name}: {result}", file=sys.stderr)
        return
    if several:
        print(f"==> {name} <==")
    for note in result.notes:
        print(f"gofer: {name}: {note}", file=sys.stderr)
    if result.missing:
        print(f"gofer: {name}: {incomplete(result.missing, 'The text', _option)}", file=sys.stderr)
    print(result.text, flush=True)


def _option(gap: Missing) -> str:
    """Return the options that read a missing part; empty if this command has no such option."""
    if gap.tool != "extract_file" or not gap.arguments:
        return ""
    return " ".join(f"--{name.replace('_', '-')} {shlex.quote(str(value))}" for name, value in gap.arguments.items())
