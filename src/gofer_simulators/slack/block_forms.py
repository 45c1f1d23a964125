"""The check of blocks by the Block Kit reference: keys, texts, lengths, ids, and the blocks of each surface.

Where reports from real workspaces are stricter than Slack's pages, the reports count.
"""

from collections.abc import Mapping, Sequence

from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of
from gofer_simulators.slack.element_forms import (
    BUTTON,
    IMAGE,
    IN_ACTIONS,
    IN_CONTEXT_ACTIONS,
    IN_INPUT,
    IN_SECTION,
    OVERFLOW,
    RICH_ELEMENTS,
)
from gofer_simulators.slack.form_checks import (
    IDENTITY,
    Check,
    anything,
    array,
    check_unique,
    flag,
    https,
    invalid,
    length,
    number,
    one_of,
    plain,
    record,
    some,
    string,
    tagged,
    text,
    unique,
)

MAX_CHARTS = 2
MAX_TABLE_CELLS = 10_000
MAX_DATA_CELLS = 20_000
TASK_STATES = ("pending", "in_progress", "complete", "error")


def _block(required: Mapping[str, Check], optional: Mapping[str, Check] | None = None) -> Check:
    return record({"type": anything, **required}, {"block_id": IDENTITY, **(optional or {})})


def _container(value: object, place: str) -> None:
    some(("title", "rich_text_title"), _CONTAINER)(value, place)
    if not is_object(value):
        return
    collapsible = value.get("is_collapsible") is True
    if value.get("default_collapsed") is True and not collapsible:
        raise invalid("default_collapsed requires is_collapsible", place)
    if value.get("has_header_divider") is True and collapsible:
        raise invalid("has_header_divider cannot be set when is_collapsible is true", place)


def _table(most: int, rows: Check, others: Check) -> Check:
    """Return the check of a table with at most `most` characters, and with rows of one width."""

    def check(value: object, place: str) -> None:
        others(value, place)
        given = value.get("rows") if is_object(value) else None
        rows(given, f"{place}/rows")
        if not is_array(given):
            return
        if len({len(row) for row in given if is_array(row)}) > 1:
            raise invalid("all rows must have the same number of cells", f"{place}/rows")
        if length(given) > most:
            raise invalid(f"the cells of a table take {most} characters", f"{place}/rows")

    return check


def _data_rows(value: object, place: str) -> None:
    raw = tagged({"raw_text": _RAW_TEXT})
    array(array(tagged({"raw_text": _RAW_TEXT, "rich_text": _RICH}), 20), 201, 2)(value, place)
    if is_array(value):
        array(raw)(value[0], f"{place}/0")


def _series(value: object, place: str) -> None:
    """Check a chart with axes: each series has a value for each category, in their order."""
    unique("series", "name", _AXES)(value, place)
    if not is_object(value):
        return
    categories = object_of(value, "axis_config").get("categories")
    for index, one in enumerate(objects(value.get("series"))):
        if [point.get("label") for point in objects(one.get("data"))] != categories:
            raise invalid("labels must match the categories of the axis", f"{place}/series/{index}/data")


_RICH = _block({"elements": RICH_ELEMENTS})
_RAW_TEXT = record({"type": anything, "text": string()}, {})
_RAW_NUMBER = record({"type": anything, "value": number()}, {"text": string()})
_COLUMN = record({}, {"align": one_of("left", "center", "right"), "is_wrapped": flag})
_TITLE = text(150)
_CARD = some(
    ("hero_image", "title", "actions", "body"),
    _block(
        {},
        {
            "hero_image": IMAGE,
            "icon": IMAGE,
            "title": _TITLE,
            "subtitle": _TITLE,
            "body": text(200),
            "actions": array(tagged({"button": BUTTON})),
        },
    ),
)
_LINK = record({"type": one_of("url"), "url": string(3_000), "text": string()}, {})
_TASK = _block(
    {"task_id": string(), "title": string(), "status": one_of(*TASK_STATES)},
    {"details": tagged({"rich_text": _RICH}), "output": tagged({"rich_text": _RICH}), "sources": array(_LINK)},
)
_POINTS = array(record({"label": string(20), "value": number()}, {}), 20)
_AXES = record(
    {
        "type": anything,
        "series": array(record({"name": string(20), "data": _POINTS}, {}), 6),
        "axis_config": record(
            {"categories": array(string(20), 20)}, {"x_label": string(50, least=0), "y_label": string(50, least=0)}
        ),
    },
    {},
)
_PIE = record(
    {"type": anything, "segments": array(record({"label": string(20), "value": number(0)}, {}), 6)},
    {},
)
_CHART = tagged({"pie": _PIE, "bar": _series, "area": _series, "line": _series})
_WORDS = tagged({"image": IMAGE, "plain_text": text(3_000), "mrkdwn": text(3_000)})
_IMAGE_BLOCK = some(
    ("image_url", "slack_file"),
    _block({"alt_text": string(2_000)}, {"image_url": string(3_000), "slack_file": anything, "title": plain(2_000)}),
)
_SECTION = some(
    ("text", "fields"),
    _block(
        {},
        {"text": text(3_000), "fields": array(text(2_000), 10), "accessory": tagged(IN_SECTION), "expand": flag},
    ),
)
_TABLE = _table(
    MAX_TABLE_CELLS,
    array(array(tagged({"raw_text": _RAW_TEXT, "raw_number": _RAW_NUMBER, "rich_text": _RICH}), 20), 100),
    _block({"rows": anything}, {"column_settings": array(_COLUMN, 20)}),
)
_VIDEO = _block(
    {"video_url": https, "thumbnail_url": string(3_000), "alt_text": string(), "title": plain(199)},
    {
        "title_url": https,
        "author_name": string(49),
        "provider_name": string(),
        "provider_icon_url": string(3_000),
        "description": plain(200),
    },
)
_NESTED: Mapping[str, Check] = {
    "actions": unique("elements", "action_id", _block({"elements": array(tagged(IN_ACTIONS), 25)})),
    "context": _block({"elements": array(_WORDS, 10)}),
    "divider": _block({}),
    "header": _block({"text": plain(150)}, {"level": number(1, 6)}),
    "image": _IMAGE_BLOCK,
    "section": _SECTION,
    "table": _TABLE,
    "video": _VIDEO,
}
"""The blocks in a container. Slack's pages also list files, inputs and rich text there, but Slack refuses them."""
_CONTAINER = _block(
    {"child_blocks": array(tagged(_NESTED), 10)},
    {
        "title": plain(150),
        "rich_text_title": tagged({"rich_text": _RICH}),
        "subtitle": _TITLE,
        "width": one_of("narrow", "standard", "wide", "full"),
        "icon": IMAGE,
        "is_collapsible": flag,
        "default_collapsed": flag,
        "has_header_divider": flag,
    },
)
_NAME = plain(75)
_AUTH_PROVIDER = _block(
    {"value": string(150), "name": _NAME, "is_connected": flag},
    {
        **dict.fromkeys(("icon_url", "auth_url", "disconnect_url"), https),
        "description": plain(150),
        "connected_identity": _NAME,
        "connected_context": _NAME,
        "accessory": tagged({"overflow": OVERFLOW}),
        "fallback": anything,
    },
)
_ANYWHERE: Mapping[str, Check] = {
    **_NESTED,
    "alert": _block({"text": text(200)}, {"level": one_of("default", "info", "warning", "error", "success")}),
    "auth_provider": _AUTH_PROVIDER,
    "card": _CARD,
    "carousel": _block({"elements": array(tagged({"card": _CARD}), 10)}),
    "container": _container,
    "input": _block(
        {"label": plain(2_000), "element": tagged(IN_INPUT)},
        {"hint": plain(2_000), "optional": flag, "dispatch_action": flag},
    ),
    "rich_text": _RICH,
}
HOME = {kind: check for kind, check in _ANYWHERE.items() if kind != "table"}
"""The blocks of a Home tab."""
MESSAGE: Mapping[str, Check] = {
    **_ANYWHERE,
    "context_actions": unique("elements", "action_id", _block({"elements": array(tagged(IN_CONTEXT_ACTIONS), 5)})),
    "data_table": _table(
        MAX_DATA_CELLS,
        _data_rows,
        _block(
            {"rows": anything, "caption": string()},
            {"page_size": number(1, 100), "row_header_column_index": number(0)},
        ),
    ),
    "data_visualization": _block({"title": string(50), "chart": _CHART}),
    "markdown": _block({"text": string()}),
    "plan": unique("tasks", "task_id", _block({"title": string()}, {"tasks": array(tagged({"task_card": _TASK}), 50)})),
    "task_card": _TASK,
}
"""The blocks that an app can put into a message."""
RECEIVED = {**MESSAGE, "file": _block({"source": one_of("remote"), "external_id": string()})}
"""The blocks that a message can show; Slack itself adds the block of a remote file."""


def check_forms(blocks: Sequence[JsonObject], kinds: Mapping[str, Check] = MESSAGE) -> None:
    """Check the blocks of a message, or of a surface with these `kinds`. Raises SlackRefusal for the first mistake."""
    for index, block in enumerate(blocks):
        tagged(kinds)(block, f"/blocks/{index}")
    check_unique([text_of(block, "block_id") for block in blocks], "block_id", "/blocks")
    used = [text_of(block, "type") for block in blocks]
    if "plan" in used and "task_card" in used:
        raise invalid("a message has a plan or task cards, not both", "/blocks")
    check_unique(
        [text_of(block, "task_id") for block in blocks if block.get("type") == "task_card"], "task_id", "/blocks"
    )
    if used.count("data_visualization") > MAX_CHARTS:
        raise invalid(f"no more than {MAX_CHARTS} data_visualization blocks allowed", "/blocks")
    if used.count("table") > 1:
        raise invalid("only one table allowed", "/blocks")
