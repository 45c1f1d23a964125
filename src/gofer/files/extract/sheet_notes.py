"""The notes on a sheet of a workbook beside its cells: comments, conversations and boxes of text."""

from collections.abc import Iterator

from gofer.files.extract.xml_package import Element, Package, attribute, root

_MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_TALK = "{http://schemas.microsoft.com/office/spreadsheetml/2018/threadedcomments}"
_SHAPE = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}sp"
_KINDS = ("comments", "threadedComment", "drawing")
_LARGEST = 32 << 20
_OFFICE = "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}"
_TABLE = "{urn:oasis:names:tc:opendocument:xmlns:table:1.0}"
_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_CREATOR = "{http://purl.org/dc/elements/1.1/}creator"
_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"


def notes(package: Package, sheet: str) -> Iterator[str]:
    """Yield a line for each; `sheet` is the name of its part."""
    parts = [
        (kind, tree)
        for kind, name in package.relations(sheet).values()
        if kind in _KINDS and (tree := package.tree(name)) is not None
    ]
    talks = [talk for kind, tree in parts if kind == "threadedComment" for talk in tree.iter(f"{_TALK}threadedComment")]
    told = {attribute(talk, "ref") for talk in talks}
    for kind, tree in parts:
        if kind == "comments":
            yield from _comments(tree, told)
    people = _people(package) if talks else {}
    for talk in talks:
        author = people.get(attribute(talk, "personId"), "")
        yield _line(attribute(talk, "ref"), author, "".join(talk.itertext(f"{_TALK}text")).strip())
    for kind, tree in parts:
        if kind == "drawing":
            yield from _boxes(tree)


def open_notes(package: Package) -> dict[str, list[str]]:
    """Return the same for an OpenDocument spreadsheet: comments by the names of its sheets."""
    raw = package.read("content.xml")
    if b"annotation" not in raw or len(raw) > _LARGEST:
        return {}
    found: dict[str, list[str]] = {}
    for table in root(raw).iter(f"{_TABLE}table"):
        lines = found.setdefault(attribute(table, f"{_TABLE}name"), [])
        down = 0
        for line in table.iter(f"{_TABLE}table-row"):
            across = 0
            for cell in line.iterchildren(f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell"):
                for comment in cell.iterchildren(f"{_OFFICE}annotation"):
                    author = "".join(comment.itertext(_CREATOR))
                    text = "\n".join("".join(one.itertext()) for one in comment.iterchildren(f"{_TEXT}p"))
                    lines.append(_line(f"{letters(across)}{down + 1}", author, text))
                across += _times(cell, "columns")
            down += _times(line, "rows")
    return found


def letters(column: int) -> str:
    """Return a column as spreadsheets call it: 0 is A, 26 is AA."""
    said = ""
    while column >= 0:
        said = chr(ord("A") + column % 26) + said
        column = column // 26 - 1
    return said


def _times(element: Element, what: str) -> int:
    said = attribute(element, f"{_TABLE}number-{what}-repeated")
    if said.isdigit() and len(said) < 9:
        return int(said)
    return 1


def _comments(tree: Element, told: set[str]) -> Iterator[str]:
    """Yield comments without those that only tell older programs of a conversation."""
    authors = ["".join(author.itertext()) for author in tree.iter(f"{_MAIN}author")]
    for comment in tree.iter(f"{_MAIN}comment"):
        number = attribute(comment, "authorId")
        at = attribute(comment, "ref")
        author = ""
        if number.isdigit() and int(number) < len(authors):
            author = authors[int(number)]
        if at not in told:
            yield _line(at, author, "".join(comment.itertext(f"{_MAIN}t")).strip())


def _people(package: Package) -> dict[str, str]:
    people: dict[str, str] = {}
    for name in package.names("xl/persons/"):
        tree = package.tree(name)
        for person in tree.iterchildren(f"{_TALK}person") if tree is not None else ():
            people[attribute(person, "id")] = attribute(person, "displayName")
    return people


def _boxes(tree: Element) -> Iterator[str]:
    for shape in tree.iter(_SHAPE):
        lines = ["".join(line.itertext(f"{_A}t")).strip() for line in shape.iter(f"{_A}p")]
        if text := "\n".join(line for line in lines if line):
            yield f"[text box] {text}"


def _line(at: str, author: str, text: str) -> str:
    return f"[comment at {at}] {author + ': ' if author else ''}{text}"
