"""What does an OpenDocument text or presentation say?"""

from collections.abc import Iterator

from gofer.files.extract.package import Element, Package, attribute
from gofer.files.extract.table import markdown

_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_DRAW = "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}"
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_NOTES = "{urn:oasis:names:tc:opendocument:xmlns:presentation:1.0}notes"
_LINK = "{http://www.w3.org/1999/xlink}href"
_SILENT = (f"{_TEXT}tracked-changes", f"{_TEXT}sequence-decls", f"{_OFFICE}forms")
_MOST_SPACES = 100


def read(data: bytes) -> str:
    """Headings, paragraphs, lists, tables, notes, slides. Raises ToolError."""
    tree = Package(data).tree("content.xml")
    body = tree.find(f"{_OFFICE}body") if tree is not None else None
    if body is None:
        return ""
    notes: list[str] = []
    blocks = list(_blocks(body, 0, notes))
    blocks += [f"[^{at}]: {text}" for at, text in enumerate(notes, 1)]
    return "\n\n".join(block for block in blocks if block.strip())


def _blocks(parent: Element, depth: int, notes: list[str]) -> Iterator[str]:
    for child in parent.iterchildren():
        if child.tag in _SILENT:
            continue
        if child.tag == f"{_TEXT}h":
            level = attribute(child, f"{_TEXT}outline-level")
            yield f"{'#' * (min(int(level), 6) if level.isdigit() else 1)} {_said(child, notes)}"
        elif child.tag == f"{_TEXT}p":
            yield _said(child, notes)
        elif child.tag == f"{_TEXT}list":
            yield "\n".join(_items(child, depth, notes))
        elif child.tag == f"{_TABLE}table":
            yield markdown(list(_rows(child, notes)))
        elif child.tag == f"{_DRAW}page":
            yield f"[slide {attribute(child, f'{_DRAW}name')}]"
            yield from _blocks(child, depth, notes)
        elif child.tag == _NOTES:
            if text := " ".join(_blocks(child, depth, notes)).strip():
                yield f"[notes] {text}"
        else:
            yield from _blocks(child, depth, notes)


def _items(element: Element, depth: int, notes: list[str]) -> Iterator[str]:
    for item in element.iterchildren(f"{_TEXT}list-item", f"{_TEXT}list-header"):
        texts = [
            text if inner.tag == f"{_TEXT}list" else f"{'  ' * depth}- {text}"
            for inner in item.iterchildren()
            for text in _blocks_of(inner, depth + 1, notes)
        ]
        yield from texts


def _blocks_of(element: Element, depth: int, notes: list[str]) -> list[str]:
    if element.tag == f"{_TEXT}list":
        return list(_items(element, min(depth, 8), notes))
    return [_said(element, notes)]


def _rows(table: Element, notes: list[str]) -> Iterator[list[str]]:
    for row in table.iter(f"{_TABLE}table-row"):
        cells = row.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
        yield ["\n".join(_blocks(cell, 0, notes)) for cell in cells]


def _said(element: Element, notes: list[str]) -> str:
    return "".join(_inline(element, notes)).strip()


def _inline(element: Element, notes: list[str]) -> Iterator[str]:
    yield element.text or ""
    for child in element.iterchildren():
        if child.tag == f"{_TEXT}s":
            count = attribute(child, f"{_TEXT}c")
            yield " " * (min(int(count), _MOST_SPACES) if count.isdigit() else 1)
        elif child.tag == f"{_TEXT}tab":
            yield "\t"
        elif child.tag == f"{_TEXT}line-break":
            yield "\n"
        elif child.tag == f"{_TEXT}note":
            body = child.find(f"{_TEXT}note-body")
            notes.append(" ".join(_blocks(body, 0, notes)) if body is not None else "")
            yield f"[^{len(notes)}]"
        elif child.tag == f"{_OFFICE}annotation":
            yield f"[comment: {' '.join(' '.join(child.itertext()).split())}]"
        elif child.tag == f"{_TEXT}a":
            text, target = _said(child, notes), attribute(child, _LINK)
            yield f"[{text}]({target})" if "://" in target and target != text else text
        else:
            yield from _inline(child, notes)
        yield child.tail or ""
