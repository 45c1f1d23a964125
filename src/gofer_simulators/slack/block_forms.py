"""The check of blocks by the Block Kit reference: keys, texts, lengths and ids.

For types that Gofer and its tests never send, only the type and the block_id are checked.
"""

from collections.abc import Mapping, Sequence

from gofer_simulators.json_values import JsonObject, is_array, is_object, object_of, objects, text_of
from gofer_simulators.slack.workspace import SlackRefusal

MAX_TEXT = 3_000
MAX_FIELDS = 10
MAX_FIELD = 2_000
MAX_HEADER = 150
MAX_ALT_TEXT = 2_000
MAX_ID = 255
MAX_BUTTON_TEXT = 75
MAX_BUTTON_VALUE = 2_000
MAX_ADDRESS = 3_000
MAX_ACTIONS = 25
MAX_CONTEXT = 10
_STYLES = ("primary", "danger")
_KEYS: Mapping[str, frozenset[str]] = {
    "actions": frozenset({"elements"}),
    "context": frozenset({"elements"}),
    "divider": frozenset(),
    "header": frozenset({"text", "level"}),
    "image": frozenset({"image_url", "slack_file", "alt_text", "title"}),
    "markdown": frozenset({"text"}),
    "rich_text": frozenset({"elements"}),
    "section": frozenset({"text", "fields", "accessory", "expand"}),
}
"""The keys of each type of block besides `type` and `block_id`."""
_OTHERS = frozenset(
    {
        "alert", "card", "carousel", "container", "context_actions", "data_table", "file", "input", "plan", "table",
        "task_card", "video",
    }
)  # fmt: skip
_BUTTON = frozenset({"type", "text", "action_id", "url", "value", "style", "confirm", "accessibility_label"})
_RICH = frozenset({"rich_text_section", "rich_text_list", "rich_text_preformatted", "rich_text_quote"})
_LEAVES: Mapping[str, frozenset[str]] = {
    "broadcast": frozenset({"range"}),
    "channel": frozenset({"channel_id"}),
    "color": frozenset({"value"}),
    "date": frozenset({"timestamp", "format", "url", "fallback"}),
    "emoji": frozenset({"name", "unicode", "skin_tone", "url"}),
    "link": frozenset({"url", "text", "unsafe"}),
    "text": frozenset({"text"}),
    "user": frozenset({"user_id"}),
    "usergroup": frozenset({"usergroup_id"}),
}
"""The keys of each type of rich text part besides `type` and `style`."""


def check_forms(blocks: Sequence[JsonObject]) -> None:
    """Check the blocks of a message. Raises SlackRefusal for the first mistake."""
    for index, block in enumerate(blocks):
        _check_block(block, f"/blocks/{index}")
    ids = [text_of(block, "block_id") for block in blocks if block.get("block_id")]
    _check_unique(ids, "block_id", "/blocks")


def invalid(problem: str, place: str = "") -> SlackRefusal:
    """Return the refusal of blocks with a mistake; `place` is the JSON pointer of the mistake."""
    if place:
        problem = f"{problem} [json-pointer:{place}]"
    return SlackRefusal("invalid_blocks", f"[ERROR] {problem}")


def _check_block(block: JsonObject, place: str) -> None:
    kind = text_of(block, "type")
    _check_id(block, "block_id", place)
    if kind in _OTHERS:
        return
    if kind not in _KEYS:
        raise invalid(f"unsupported type: {kind or 'none'}", f"{place}/type")
    _check_keys(block, _KEYS[kind] | {"type", "block_id"}, place)
    match kind:
        case "markdown":
            _check_length(block.get("text"), None, f"{place}/text")
        case "header":
            _check_text(block.get("text"), MAX_HEADER, f"{place}/text", plain=True)
        case "section":
            _check_section(block, place)
        case "image":
            _check_image(block, place)
            if "title" in block:
                _check_text(block["title"], MAX_ALT_TEXT, f"{place}/title", plain=True)
        case "context":
            _check_context(block, place)
        case "actions":
            _check_actions(block, place)
        case "rich_text":
            _check_rich_text(block, place)
        case _:
            pass


def _check_section(block: JsonObject, place: str) -> None:
    if "text" not in block and "fields" not in block:
        raise invalid("missing required field: text or fields", place)
    if "text" in block:
        _check_text(block["text"], MAX_TEXT, f"{place}/text")
    if "fields" in block:
        for index, field in enumerate(_items(block, "fields", MAX_FIELDS, place)):
            _check_text(field, MAX_FIELD, f"{place}/fields/{index}")
    accessory = object_of(block, "accessory")
    if accessory.get("type") == "button":
        _check_button(accessory, f"{place}/accessory")


def _check_image(image: JsonObject, place: str) -> None:
    if not text_of(image, "image_url") and not object_of(image, "slack_file"):
        raise invalid("missing required field: image_url or slack_file", place)
    if "alt_text" not in image:
        raise invalid("missing required field: alt_text", place)
    _check_length(image["alt_text"], MAX_ALT_TEXT, f"{place}/alt_text")


def _check_context(block: JsonObject, place: str) -> None:
    for index, element in enumerate(_items(block, "elements", MAX_CONTEXT, place)):
        where = f"{place}/elements/{index}"
        if is_object(element) and element.get("type") == "image":
            _check_keys(element, {"type", "image_url", "slack_file", "alt_text"}, where)
            _check_image(element, where)
        else:
            _check_text(element, MAX_TEXT, where)


def _check_actions(block: JsonObject, place: str) -> None:
    elements = _items(block, "elements", MAX_ACTIONS, place)
    for index, element in enumerate(objects(elements)):
        if element.get("type") == "button":
            _check_button(element, f"{place}/elements/{index}")
    ids = [text_of(element, "action_id") for element in objects(elements) if element.get("action_id")]
    _check_unique(ids, "action_id", f"{place}/elements")


def _check_button(button: JsonObject, place: str) -> None:
    _check_keys(button, _BUTTON, place)
    _check_text(button.get("text"), MAX_BUTTON_TEXT, f"{place}/text", plain=True)
    _check_id(button, "action_id", place)
    if button.get("style", "primary") not in _STYLES:
        raise invalid(f"must be one of: {', '.join(_STYLES)}", f"{place}/style")
    for name, most in (("value", MAX_BUTTON_VALUE), ("url", MAX_ADDRESS)):
        if len(text_of(button, name)) > most:
            raise invalid(f"must be less than {most + 1} characters", f"{place}/{name}")


def _check_rich_text(block: JsonObject, place: str) -> None:
    for index, element in enumerate(_items(block, "elements", None, place)):
        _check_rich_element(element, f"{place}/elements/{index}")


def _check_rich_element(element: object, place: str) -> None:
    if not is_object(element) or text_of(element, "type") not in _RICH:
        raise invalid("unsupported type of a rich text element", place)
    inside = element.get("elements")
    if not is_array(inside):
        raise invalid("missing required field: elements", place)
    for index, part in enumerate(inside):
        where = f"{place}/elements/{index}"
        if element["type"] == "rich_text_list":
            _check_rich_element(part, where)
        else:
            _check_leaf(part, where)


def _check_leaf(part: object, place: str) -> None:
    if not is_object(part):
        raise invalid("must provide an object", place)
    kind = text_of(part, "type")
    if kind not in _LEAVES:
        raise invalid(f"unsupported type: {kind or 'none'}", f"{place}/type")
    _check_keys(part, _LEAVES[kind] | {"type", "style"}, place)
    if kind == "text":
        _check_length(part.get("text"), None, f"{place}/text")


def _check_text(text: object, most: int, place: str, *, plain: bool = False) -> None:
    """Check a text object; `plain` allows only the type plain_text."""
    if not is_object(text):
        raise invalid("must provide an object", place)
    kind = text_of(text, "type")
    if not kind:
        raise invalid("missing required field: type", place)
    if kind not in ("plain_text", "mrkdwn") or (plain and kind != "plain_text"):
        raise invalid(f"unsupported type: {kind}", f"{place}/type")
    own = {"plain_text": "emoji", "mrkdwn": "verbatim"}[kind]
    _check_keys(text, {"type", "text", own}, place)
    _check_length(text.get("text"), most, f"{place}/text")


def _check_keys(value: JsonObject, known: frozenset[str] | set[str], place: str) -> None:
    if unknown := sorted(set(value) - known):
        raise invalid(f"invalid additional property: {unknown[0]}", place)


def _check_id(value: JsonObject, name: str, place: str) -> None:
    given = value.get(name, "")
    if not isinstance(given, str):
        raise invalid("must provide a string", f"{place}/{name}")
    if len(given) > MAX_ID:
        raise invalid(f"must be less than {MAX_ID + 1} characters", f"{place}/{name}")


def _check_unique(ids: Sequence[str], name: str, place: str) -> None:
    for index, given in enumerate(ids):
        if given in ids[:index]:
            raise invalid(f"`{name}` {given!r} already exists", place)


def _items(block: JsonObject, name: str, most: int | None, place: str) -> list[object]:
    items = block.get(name)
    if not is_array(items) or not items:
        raise invalid("no less than 1 items allowed", f"{place}/{name}")
    if most is not None and len(items) > most:
        raise invalid(f"no more than {most} items allowed", f"{place}/{name}")
    return items


def _check_length(text: object, most: int | None, place: str) -> None:
    if not isinstance(text, str):
        raise invalid("must provide a string", place)
    if not text:
        raise invalid("must be more than 0 characters", place)
    if most is not None and len(text) > most:
        raise invalid(f"must be less than {most + 1} characters", place)
