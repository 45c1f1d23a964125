"""The blocks of a message as text in mrkdwn, Slack's own markup: people and channels stay references.

Each type that Slack publishes is a member of a vocabulary with what reads it, or with the words in its place.
"""

import re
from collections.abc import Iterator

from gofer.sources.slack.rich_text import DEEPER, DEPTH, Fields, Reader, nothing, plain, rich_text
from gofer.sources.vocabulary import Member, Vocabulary
from gofer.values.canonical_json import as_list, as_object, as_text

COLUMNS = 50
ROWS = 200
"""The most rows of a table that are read. Slack publishes 101 rows and 20 columns."""
_REFERENCE = re.compile(r"(<(?:[@#!]|https?://|mailto:)[^<>\n]*>)")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(<?((?:https?://|mailto:)[^\s()<>]+)>?\)")


def pieces(value: object, depth: int = DEPTH) -> Iterator[str]:
    """Yield the texts of blocks, elements, text objects and plain texts, also of lists of them."""
    fields = as_object(value)
    if isinstance(value, str) and value.strip():
        yield plain(as_text(value))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)
    elif fields:
        yield from _typed(fields, depth - 1)
    for one in as_list(value):
        yield from pieces(one, depth)


def _typed(fields: Fields, depth: int) -> Iterator[str]:
    """Yield the texts of a block or an element by its type."""
    kind = as_text(fields.get("type"))
    vocabulary = BLOCKS
    if kind in ELEMENTS.members and kind not in BLOCKS.members:
        vocabulary = ELEMENTS
    read = vocabulary.reader(kind)
    if depth <= 0:
        yield DEEPER
    elif read:
        yield from read(fields, depth)
    else:
        yield vocabulary.named(kind)


def at(value: object, path: str) -> object:
    """Return the value at a path of field names, such as `options.text`; of a list, the value of each item."""
    name, _, rest = path.partition(".")
    found = as_object(value).get(name)
    if not rest:
        return found
    if items := as_list(found):
        return [at(one, rest) for one in items]
    return at(found, rest)


def _parts(*paths: str) -> Reader:
    """Return what reads some fields, each on lines of its own."""

    def read(fields: Fields, depth: int) -> Iterator[str]:
        for path in paths:
            yield from pieces(at(fields, path), depth)

    return read


def _line(*paths: str) -> Reader:
    """Return what reads some fields on one line."""

    def read(fields: Fields, depth: int) -> Iterator[str]:
        yield from filter(None, [" ".join(_parts(*paths)(fields, depth))])

    return read


def _named(name: str, *paths: str) -> Reader:
    """Return what reads some fields as "(image: a chart, https://…)"."""

    def read(fields: Fields, depth: int) -> Iterator[str]:
        inside = ", ".join(_parts(*paths)(fields, depth))
        yield f"({name}: {inside})" if inside else f"({name})"

    return read


def _control(name: str) -> Reader:
    """Return what reads a button, a menu or an input: its label, its choices, what is chosen, and its link."""
    labels = _parts("text", "placeholder", "positive_button.text", "negative_button.text")
    more = _parts("option_groups.options.text", *_LINKS)
    chosen = _parts(*_CHOSEN)

    def read(fields: Fields, depth: int) -> Iterator[str]:
        options = [_option(option, depth) for option in as_list(fields.get("options"))]
        told = [", ".join([*labels(fields, depth), *options, *more(fields, depth)]), ", ".join(chosen(fields, depth))]
        inside = ": ".join(filter(None, [name, told[0]]))
        if told[1]:
            inside += f"; chosen: {told[1]}"
        yield f"({inside})"

    return read


def _option(option: object, depth: int) -> str:
    return " – ".join(_parts("text", "description")(as_object(option), depth))


_LINKS = ("url", "workflow.trigger.url")
_CHOSEN = (
    "initial_option.text",
    "initial_options.text",
    "selected_options.text",
    "initial_value",
    "initial_date",
    "initial_time",
    "initial_date_time",
)


def _text(fields: Fields, depth: int) -> Iterator[str]:
    """Yield a text that is in mrkdwn already."""
    yield from filter(None, [as_text(fields.get("text"))])


def _markdown(fields: Fields, depth: int) -> Iterator[str]:
    """Yield a text in standard Markdown with its links and characters in mrkdwn."""
    linked = _LINK.sub(r"<\2|\1>", as_text(fields.get("text")))
    yield "".join(part if place % 2 else plain(part) for place, part in enumerate(_REFERENCE.split(linked)))


def _table(fields: Fields, depth: int) -> Iterator[str]:
    """Yield a table row by row."""
    yield from pieces(fields.get("caption"), depth)
    rows = [as_list(row) for row in as_list(fields.get("rows"))]
    columns = max(map(len, rows), default=0)
    for row in rows[:ROWS]:
        yield " | ".join(" ".join(" ".join(pieces(cell, depth)).split()) for cell in row[:COLUMNS])
    if len(rows) > ROWS or columns > COLUMNS:
        read = f"the first {min(len(rows), ROWS)} rows and {min(columns, COLUMNS)} columns"
        yield f"(The table has {len(rows)} rows and {columns} columns; above are {read}.)"


def _chart(fields: Fields, depth: int) -> Iterator[str]:
    """Yield the title and the values of a chart."""
    chart = as_object(fields.get("chart"))
    yield f"({' '.join(pieces(chart.get('type')))} chart: {' '.join(pieces(fields.get('title')))})"
    yield from _values(chart.get("segments"))
    for series in map(as_object, as_list(chart.get("series"))):
        yield f"{' '.join(pieces(series.get('name')))}: {', '.join(_values(series.get('data')))}"


def _values(points: object) -> Iterator[str]:
    for point in map(as_object, as_list(points)):
        yield f"{' '.join(pieces(point.get('label')))} {' '.join(pieces(point.get('value')))}"


def _task(fields: Fields, depth: int) -> Iterator[str]:
    """Yield one step of a plan with its state, and what came of it."""
    status = " ".join(pieces(fields.get("status"))) or "no status"
    yield f"({status}) {' '.join(pieces(fields.get('title'), depth))}"
    yield from _parts("details", "output", "sources")(fields, depth)


_IMAGE = _named("image", "title", "alt_text", "image_url", "slack_file.url")
_VIDEO = _named("video", "title", "description", "alt_text", "author_name", "provider_name", "title_url", "video_url")


BLOCKS: Vocabulary[Reader] = Vocabulary(
    "block of a message",
    "block",
    {
        "actions": Member("its buttons and menus", _line("elements")),
        "alert": Member("its level and text", _line("level", "text")),
        "auth_provider": Member("a sign-in to another system"),
        "call": Member("name and link of the call", _named("call", "call.v1.name", "call.v1.join_url")),
        "card": Member(
            "title, subtitle, body, picture and buttons",
            _parts("title", "subtitle", "body", "hero_image", "actions"),
        ),
        "carousel": Member("its cards", _parts("elements")),
        "container": Member(
            "titles and the blocks inside", _parts("title", "rich_text_title", "subtitle", "child_blocks")
        ),
        "context": Member("its texts and pictures", _line("elements")),
        "context_actions": Member("its buttons", _line("elements")),
        "data_table": Member("caption and cells, row by row", _table),
        "data_visualization": Member("kind, title and values of the chart", _chart),
        "divider": Member("nothing: it is a line", nothing),
        "file": Member("title and link of the file", _named("file", "file.title", "file.name", "file.permalink")),
        "header": Member("its text", _parts("text")),
        "image": Member("title, description and address", _IMAGE),
        "input": Member("label, hint and field", _line("label", "hint", "element")),
        "markdown": Member("its text", _markdown),
        "plan": Member("its title and steps", _parts("title", "tasks")),
        "rich_text": Member("its text, as typed", rich_text),
        "section": Member("its text, fields and accessory", _parts("text", "fields", "accessory")),
        "table": Member("its cells, row by row", _table),
        "task_card": Member("state, title, details, output and sources", _task),
        "video": Member("title, description and address", _VIDEO),
    },
)
ELEMENTS: Vocabulary[Reader] = Vocabulary(
    "element of a block",
    "element",
    {
        "action": Member("the button in the cell", _parts("element")),
        "button": Member("label and link", _control("button")),
        "channels_select": Member("its label", _control("choice of a channel")),
        "checkboxes": Member("choices and what is ticked", _control("checkboxes")),
        "conversations_select": Member("its label", _control("choice of a conversation")),
        "datepicker": Member("label and date", _control("date")),
        "datetimepicker": Member("label and time", _control("date and time")),
        "email_text_input": Member("label and text", _control("field for an e-mail address")),
        "external_select": Member("label and what is chosen", _control("menu")),
        "feedback_buttons": Member("its labels", _control("feedback buttons")),
        "file_input": Member("a field for files"),
        "icon_button": Member("its label", _control("button")),
        "image": Member("description and address", _IMAGE),
        "mrkdwn": Member("its text", _text),
        "multi_channels_select": Member("its label", _control("choice of channels")),
        "multi_conversations_select": Member("its label", _control("choice of conversations")),
        "multi_external_select": Member("label and what is chosen", _control("menu")),
        "multi_static_select": Member("label, choices and what is chosen", _control("menu")),
        "multi_users_select": Member("its label", _control("choice of people")),
        "number_input": Member("label and number", _control("field for a number")),
        "overflow": Member("its choices", _control("menu")),
        "plain_text": Member("its text", _parts("text")),
        "plain_text_input": Member("label and text", _control("field")),
        "radio_buttons": Member("choices and what is chosen", _control("choice")),
        "raw_number": Member("the number", _parts("value")),
        "raw_text": Member("its text", _parts("text")),
        "rich_text_input": Member("its label", _control("field")),
        "select": Member("label, choices and what is chosen", _control("menu")),
        "static_select": Member("label, choices and what is chosen", _control("menu")),
        "timepicker": Member("label and time", _control("time")),
        "url": Member("text and address", _line("text", "url")),
        "url_text_input": Member("label and text", _control("field for an address")),
        "users_select": Member("its label", _control("choice of a person")),
        "workflow_button": Member("label and link", _control("button")),
    },
)
