"""The reader of Jira's document format (ADF): to text for a model.

`NODES` and `MARKS` decide every published kind. A node of an unknown kind is named and its text is read. No document
raises an error.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from gofer.sources.markdown_writer import code, fenced
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.values.canonical_json import as_list, as_object, as_text

Fields = Mapping[str, object]

MOST_NODES = 100_000
"""The most nodes of one document that are read."""
DEEPEST = 60
"""The deepest nesting that is read."""
MOST_COLUMNS = 50
"""The most columns of a table that are read."""
_TOO_MANY = "(The rest of this text is left out, because it has too many parts.)"
_TOO_DEEP = "(a part that is nested too deeply to be read)"


@dataclass(slots=True)
class Reading:
    """The reading of one document."""

    people: Mapping[str, str]
    """The texts that stand for mentions, by account id."""
    files: Mapping[str, str]
    """The ids of attachments, by file name."""
    left: int = MOST_NODES
    depth: int = 0
    unnamed: list[str] = field(default_factory=list[str])
    """The account ids of mentions without a name."""

    def node(self, node: Fields) -> str:
        """Return the text of a node."""
        kind = as_text(node.get("type"))
        self.left -= 1
        if self.left < 0:
            return ""
        if self.depth >= DEEPEST:
            return _TOO_DEEP
        self.depth += 1
        text = self._text(kind, node)
        self.depth -= 1
        marks = sorted(map(as_object, as_list(node.get("marks"))), key=lambda mark: mark.get("type") != "code")
        for mark in marks:
            text = _marked(text, as_text(mark.get("type")), as_object(mark.get("attrs")))
        return text

    def _text(self, kind: str, node: Fields) -> str:
        reader = NODES.reader(kind)
        if reader is not None:
            return reader(self, node)
        if not kind:
            return self.blocks(node)
        return "\n".join(filter(None, [NODES.named(kind), self.blocks(node)]))

    def blocks(self, node: Fields) -> str:
        """Return the texts of the children, each on its own lines."""
        return "\n".join(self.children(node))

    def inline(self, node: Fields) -> str:
        """Return the texts of the children in one line."""
        return "".join(self.children(node))

    def children(self, node: Fields) -> list[str]:
        """Return the texts of the children."""
        return [self.node(as_object(child)) for child in as_list(node.get("content"))]


def adf_text(document: object, people: Mapping[str, str] | None = None, files: Mapping[str, str] | None = None) -> str:
    """Return the text of a document with lists, tables and code in Markdown; a plain string is returned trimmed.

    `people` and `files` are as in `Reading`.
    """
    return _read(document, Reading(people or {}, files or {}))


def unnamed_people(document: object) -> list[str]:
    """Return the account ids of mentions to which Jira gives no name, in the order of the text."""
    reading = Reading({}, {})
    _read(document, reading)
    return list(dict.fromkeys(reading.unnamed))


def _read(document: object, reading: Reading) -> str:
    if isinstance(document, str):
        return as_text(document).strip()
    text = "\n".join(line.rstrip() for line in reading.node(as_object(document)).split("\n")).strip()
    if reading.left < 0:
        return f"{text}\n{_TOO_MANY}"
    return text


def _attributes(node: Fields) -> Fields:
    return as_object(node.get("attrs"))


def _of(name: str, node: Fields) -> str:
    return as_text(_attributes(node).get(name)).strip()


def _plain(reading: Reading, node: Fields) -> str:
    return as_text(node.get("text"))


def _line_break(reading: Reading, node: Fields) -> str:
    return "\n"


def _rule(reading: Reading, node: Fields) -> str:
    return "---"


def _heading(reading: Reading, node: Fields) -> str:
    return f"\n{reading.inline(node)}"


def _item(marker: str, text: str) -> str:
    lines = text.split("\n")
    return "\n".join([marker + lines[0], *("  " + line for line in lines[1:])])


def _bullets(reading: Reading, node: Fields) -> str:
    return "\n".join(_item("- ", child) for child in reading.children(node))


def _numbers(reading: Reading, node: Fields) -> str:
    first = _attributes(node).get("order")
    start = first if isinstance(first, int) else 1
    return "\n".join(_item(f"{number}. ", child) for number, child in enumerate(reading.children(node), start))


def _tasks(reading: Reading, node: Fields) -> str:
    """Return the tasks; a list within a list stands below its task."""
    rows: list[str] = []
    for child in map(as_object, as_list(node.get("content"))):
        text = reading.node(child)
        rows.append(_item("  ", text) if child.get("type") == "taskList" else text)
    return "\n".join(rows)


def _task(reading: Reading, node: Fields) -> str:
    done = "x" if _of("state", node) == "DONE" else " "
    between = "\n" if node.get("type") == "blockTaskItem" else ""
    return _item(f"- [{done}] ", between.join(reading.children(node)))


def _decision(reading: Reading, node: Fields) -> str:
    word = "Decided" if _of("state", node) in ("", "DECIDED") else "Not decided"
    return f"- {word}: {reading.inline(node)}"


def _code_block(reading: Reading, node: Fields) -> str:
    language = _of("language", node)
    if language == "text":
        language = ""
    return fenced(reading.inline(node), language)


def _quote(reading: Reading, node: Fields) -> str:
    return "\n".join(f"> {line}" for line in reading.blocks(node).split("\n"))


def _panel(reading: Reading, node: Fields) -> str:
    return f"(panel: {_of('panelType', node) or 'info'})\n{reading.blocks(node)}"


def _expand(reading: Reading, node: Fields) -> str:
    return f"(folded section: {_of('title', node) or 'without a title'})\n{reading.blocks(node)}"


def _table(reading: Reading, node: Fields) -> str:
    rows: list[str] = []
    for row in map(as_object, as_list(node.get("content"))):
        rows.append(reading.node(row))
        cells = [as_object(cell).get("type") for cell in as_list(row.get("content"))]
        if len(rows) == 1 and cells and set(cells) == {"tableHeader"}:
            rows.append(" | ".join("---" for _ in cells[:MOST_COLUMNS]))
    return "\n".join(rows)


def _row(reading: Reading, node: Fields) -> str:
    cells = as_list(node.get("content"))
    left = len(cells) - MOST_COLUMNS
    texts = reading.children({"content": cells[:MOST_COLUMNS]})
    if left > 0:
        texts.append(f"({left} further columns are left out)")
    return " | ".join(texts)


def _cell(reading: Reading, node: Fields) -> str:
    text = " ".join(reading.blocks(node).split()).replace("|", "\\|")
    spans = ((_attributes(node).get("colspan"), "columns wide"), (_attributes(node).get("rowspan"), "rows high"))
    notes = [f"({number} {words})" for number, words in spans if isinstance(number, int) and number > 1]
    return " ".join(filter(None, [text, *notes]))


def _media(reading: Reading, node: Fields) -> str:
    name = _of("alt", node) or _of("__fileName", node)
    attachment = reading.files.get(name, "")
    known = [name, _of("url", node), f"attachment {attachment}" if attachment else ""]
    what = "picture" if _of("type", node) == "external" else "file"
    return f"({what}: {', '.join(filter(None, known)) or 'without a name; the attachments have it'})"


def _card(reading: Reading, node: Fields) -> str:
    data = as_object(_attributes(node).get("data"))
    address = _of("url", node) or as_text(data.get("url"))
    name = as_text(data.get("name")).strip()
    if name and address:
        return f"{name} ({address})"
    query = as_object(as_object(_attributes(node).get("datasource")).get("parameters")).get("jql")
    return name or address or f"(a list of what Jira finds with: {as_text(query)})" * bool(query) or "(a card)"


def _mention(reading: Reading, node: Fields) -> str:
    id_ = _of("id", node)
    name = _of("text", node).removeprefix("@")
    if not name and id_:
        reading.unnamed.append(id_)
    return reading.people.get(id_) or f"@{name or id_ or 'unknown user'}"


def _emoji(reading: Reading, node: Fields) -> str:
    return _of("text", node) or _of("shortName", node) or f"(emoji {_of('id', node)})"


def _status(reading: Reading, node: Fields) -> str:
    return _of("text", node)


def _placeholder(reading: Reading, node: Fields) -> str:
    return f"(to be filled in: {_of('text', node)})"


def _date(reading: Reading, node: Fields) -> str:
    stamp = _attributes(node).get("timestamp")
    try:
        return datetime.fromtimestamp(int(str(stamp)) / 1000, UTC).strftime("%Y-%m-%d")
    except (ValueError, OverflowError, OSError):
        return "(a date that cannot be read)"


def _extension(reading: Reading, node: Fields) -> str:
    parameters = as_object(_attributes(node).get("parameters"))
    titles = [_of("text", node), *(as_text(parameters.get(name)) for name in ("extensionTitle", "title"))]
    title = next(filter(None, titles), "")
    named = ": ".join(filter(None, [_of("extensionKey", node) or "without a key", title]))
    return "\n".join(filter(None, [f"(extension {named})", reading.blocks(node)]))


def _synced(reading: Reading, node: Fields) -> str:
    return f"(a synced block, whose text is elsewhere: {_of('resourceId', node) or 'without an id'})"


def _issue(reading: Reading, node: Fields) -> str:
    return _of("issueKey", node) or "(an issue of Jira)"


def _image(reading: Reading, node: Fields) -> str:
    return f"(picture: {', '.join(filter(None, [_of('alt', node), _of('src', node)]))})"


Reader = Callable[[Reading, Fields], str]
_INLINE: Member[Reader] = Member("its text", Reading.inline)
_BLOCKS: Member[Reader] = Member("its blocks", Reading.blocks)
_CARD: Member[Reader] = Member("its name and address, or the query of its list", _card)
_MEDIA: Member[Reader] = Member("its description or file name, its address, and the id of the attachment", _media)
_EXPAND: Member[Reader] = Member("its title and blocks", _expand)
_EXTENSION: Member[Reader] = Member("its key, its title and its blocks", _extension)
_DECISION: Member[Reader] = Member("`- Decided: ` or `- Not decided: `, and its text", _decision)
_TASK: Member[Reader] = Member("`- [x] ` or `- [ ] `, and its text", _task)
_CELL: Member[Reader] = Member("its text on one line, and the columns and rows that it spans", _cell)
NODES: Vocabulary[Reader] = Vocabulary(
    "node of a Jira text",
    "node",
    {
        "doc": _BLOCKS,
        "paragraph": _INLINE,
        "heading": Member("its text below an empty line", _heading),
        "text": Member("its text with its marks", _plain),
        "hardBreak": Member("a new line", _line_break),
        "rule": Member("`---`", _rule),
        "bulletList": Member("`- ` before each item", _bullets),
        "orderedList": Member("a number before each item", _numbers),
        "listItem": _BLOCKS,
        "taskList": Member("its tasks; a list within it is indented", _tasks),
        "taskItem": _TASK,
        "blockTaskItem": _TASK,
        "decisionList": _BLOCKS,
        "decisionItem": _DECISION,
        "codeBlock": Member("its code between lines of three backticks, with its language", _code_block),
        "blockquote": Member("`> ` before each line", _quote),
        "panel": Member("its type and blocks", _panel),
        "expand": _EXPAND,
        "nestedExpand": _EXPAND,
        "layoutSection": _BLOCKS,
        "layoutColumn": _BLOCKS,
        "table": Member("a row on each line, with a line below a row of headings", _table),
        "tableRow": Member("its cells with bars between them, at most 50", _row),
        "tableHeader": _CELL,
        "tableCell": _CELL,
        "mediaSingle": _BLOCKS,
        "mediaGroup": _BLOCKS,
        "media": _MEDIA,
        "mediaInline": _MEDIA,
        "image": Member("its description and address", _image),
        "caption": _INLINE,
        "inlineCard": _CARD,
        "blockCard": _CARD,
        "embedCard": _CARD,
        "mention": Member("the name of the person, which Gofer looks up if it is missing, or else the id", _mention),
        "emoji": Member("the emoji, or its name", _emoji),
        "date": Member("the date, as 2026-11-30", _date),
        "status": Member("its text", _status),
        "placeholder": Member("its text, named as a place to fill in", _placeholder),
        "extension": _EXTENSION,
        "inlineExtension": _EXTENSION,
        "bodiedExtension": _EXTENSION,
        "multiBodiedExtension": _EXTENSION,
        "extensionFrame": _BLOCKS,
        "syncBlock": Member("the id of its source", _synced),
        "bodiedSyncBlock": _BLOCKS,
        "confluenceJiraIssue": Member("the key of the issue", _issue),
        "confluenceUnsupportedBlock": Member("a part of a Confluence page that Jira does not show"),
        "confluenceUnsupportedInline": Member("a part of a Confluence page that Jira does not show"),
        "unsupportedBlock": Member("a part that Jira does not show"),
        "unsupportedInline": Member("a part that Jira does not show"),
    },
)
"""Every published node. An unknown node is named with its type, and its text is read."""


def _wrapped(text: str, before: str, after: str = "") -> str:
    """Return a text between two marks, which leave out white space at its ends."""
    inner = text.strip()
    if not inner:
        return text
    left, _, right = text.partition(inner)
    return f"{left}{before}{inner}{after or before}{right}"


def _struck(text: str, attributes: Fields) -> str:
    return _wrapped(text, "~~")


def _code(text: str, attributes: Fields) -> str:
    return code(text) if "`" in text else _wrapped(text, "`")


def _raised(text: str, attributes: Fields) -> str:
    mark = "_" if attributes.get("type") == "sub" else "^"
    if len(text) == 1:
        return mark + text
    return _wrapped(text, f"{mark}(", ")")


def _linked(text: str, attributes: Fields) -> str:
    address = as_text(attributes.get("href"))
    if not address or address == text:
        return text
    return f"{text} ({address})"


def _unmarked(text: str, attributes: Fields) -> str:
    return text


_WITHOUT_MEANING = """
strong em underline textColor backgroundColor fontSize annotation confluenceInlineComment border
alignment indentation breakout fragment dataConsumer unsupportedMark unsupportedNodeAttribute
"""
Marker = Callable[[str, Fields], str]
_UNMARKED: Member[Marker] = Member("the text without the mark", _unmarked)
MARKS: Vocabulary[Marker] = Vocabulary(
    "mark of a Jira text",
    "mark",
    {
        "strike": Member("`~~text~~`", _struck),
        "code": Member("the text between backticks", _code),
        "link": Member("the text, and the address in brackets", _linked),
        "subsup": Member("`_` or `^` before the text", _raised),
        **dict.fromkeys(_WITHOUT_MEANING.split(), _UNMARKED),
    },
)
"""Every published mark. The text of an unknown mark has the name of the mark behind it."""


def _marked(text: str, kind: str, attributes: Fields) -> str:
    marker = MARKS.reader(kind)
    if marker is not None:
        return marker(text, attributes)
    return f"{text} {MARKS.named(kind)}"
