"""The form of interactive elements, images and rich text by the Block Kit reference.

The limits are those of Slack's pages and packages for block elements and composition objects.
"""

from collections.abc import Mapping

from gofer_simulators.slack.form_checks import (
    IDENTITY,
    Check,
    anything,
    array,
    flag,
    number,
    one_of,
    plain,
    record,
    some,
    string,
    tagged,
    text,
)

_STYLE = one_of("primary", "danger")
_LABEL = string(75, least=0)
_CONFIRM = record({"text": text(300)}, {"title": plain(100), "confirm": plain(30), "deny": plain(30), "style": _STYLE})
_URLS = string(3_000, least=0)


def _element(required: Mapping[str, Check], optional: Mapping[str, Check], *more: str) -> Check:
    """Return the check of an element: its own keys, those of all elements, and the shared keys in `more`."""
    shared = {name: _SHARED[name] for name in more}
    return record({"type": anything, **required}, {"action_id": IDENTITY, **optional, **shared})


_SHARED: Mapping[str, Check] = {
    "confirm": _CONFIRM,
    "dispatch_action_config": record(
        {"trigger_actions_on": array(one_of("on_enter_pressed", "on_character_entered"))}, {}
    ),
    "focus_on_load": flag,
    "max_selected_items": number(1),
    "placeholder": plain(150),
    "response_url_enabled": flag,
}
_LINE = ("dispatch_action_config", "focus_on_load", "placeholder")
_MENU = ("confirm", "focus_on_load", "placeholder")
_MANY = (*_MENU, "max_selected_items")


def _options(most: int, words: Check) -> Check:
    option = record(
        {"text": words, "value": string(150)}, {"description": text(75), "url": _URLS}
    )  # Slack documents 75 characters for values in its types and 150 on its pages.
    return array(option, most)


_FEW = _options(10, text(75))
_MENU_OPTIONS = _options(100, plain(75))
_GROUPS = array(record({"label": plain(75), "options": _MENU_OPTIONS}, {}), 100)
_CONVERSATIONS = {"default_to_current_conversation": flag, "filter": anything}


def _menu(kind: str, *, many: bool) -> Check:
    """Return the check of a menu; `many` is for a menu of which people choose several items."""
    shared = _MANY if many else _MENU
    plural = "s" if many else ""
    match kind:
        case "static_select":
            optional = {f"initial_option{plural}": anything, "options": _MENU_OPTIONS, "option_groups": _GROUPS}
            return some(("options", "option_groups"), _element({}, optional, *shared))
        case "external_select":
            optional = {f"initial_option{plural}": anything, "min_query_length": number(0)}
        case "users_select":
            optional = {f"initial_user{plural}": anything}
        case "conversations_select":
            optional = {f"initial_conversation{plural}": anything, **_CONVERSATIONS}
        case _:
            optional = {f"initial_channel{plural}": anything}
    if not many and kind in ("conversations_select", "channels_select"):
        shared = (*shared, "response_url_enabled")
    return _element({}, optional, *shared)


_KINDS = ("static_select", "external_select", "users_select", "conversations_select", "channels_select")
_MENUS = {kind: _menu(kind, many=False) for kind in _KINDS}
_MENUS_OF_MANY = {f"multi_{kind}": _menu(kind, many=True) for kind in _KINDS}
BUTTON = _element(
    {"text": plain(75)},
    {"url": _URLS, "value": string(2_000, least=0), "style": _STYLE, "accessibility_label": _LABEL},
    "confirm",
)
_PICTURE = {"alt_text": string(2_000)}
_SOURCE = {"image_url": string(3_000), "slack_file": anything}
IMAGE = some(("image_url", "slack_file"), record({"type": anything, **_PICTURE}, _SOURCE))
OVERFLOW = _element({"options": _options(5, plain(75))}, {}, "confirm")
_CHOICES: Mapping[str, Check] = {
    "checkboxes": _element({"options": _FEW}, {"initial_options": anything}, "confirm", "focus_on_load"),
    "radio_buttons": _element({"options": _FEW}, {"initial_option": anything}, "confirm", "focus_on_load"),
    "datepicker": _element({}, {"initial_date": string(10)}, *_MENU),
    "datetimepicker": _element({}, {"initial_date_time": number(0)}, "confirm", "focus_on_load"),
    "timepicker": _element({}, {"initial_time": string(5), "timezone": string()}, *_MENU),
    **_MENUS,
}
_WORKFLOW = _element(
    {"text": plain(75), "workflow": anything}, {"style": _STYLE, "accessibility_label": _LABEL}, "confirm"
)
_RICH_INPUT = _element(
    {}, {"initial_value": anything, "min_lines": number(1, 100), "max_lines": number(1, 100)}, *_LINE
)
IN_ACTIONS: Mapping[str, Check] = {
    **_CHOICES, "button": BUTTON, "overflow": OVERFLOW, "workflow_button": _WORKFLOW, "rich_text_input": _RICH_INPUT,
}  # fmt: skip
"""The elements of an actions block. Slack's types also list menus of many items there, but Slack refuses them."""
IN_SECTION: Mapping[str, Check] = {
    **_CHOICES, **_MENUS_OF_MANY, "button": BUTTON, "overflow": OVERFLOW, "workflow_button": _WORKFLOW, "image": IMAGE,
}  # fmt: skip
IN_INPUT: Mapping[str, Check] = {
    **_CHOICES,
    **_MENUS_OF_MANY,
    "email_text_input": _element({}, {"initial_value": string(least=0)}, *_LINE),
    "file_input": _element({}, {"filetypes": array(string()), "max_files": number(1, 10)}),
    "number_input": _element(
        {"is_decimal_allowed": flag}, dict.fromkeys(("initial_value", "min_value", "max_value"), string()), *_LINE
    ),
    "plain_text_input": _element(
        {},
        {
            "initial_value": string(3_000, least=0),
            "multiline": flag,
            "min_length": number(0, 3_000),
            "max_length": number(1, 3_000),
        },
        *_LINE,
    ),
    "rich_text_input": _RICH_INPUT,
    "url_text_input": _element({}, {"initial_value": string(least=0)}, *_LINE),
}
_VOTE = record({"text": plain(75), "value": string(2_000)}, {"accessibility_label": _LABEL})
IN_CONTEXT_ACTIONS: Mapping[str, Check] = {
    "feedback_buttons": _element({"positive_button": _VOTE, "negative_button": _VOTE}, {}),
    "icon_button": _element(
        {"icon": string(), "text": plain(75)},
        {"value": string(2_000, least=0), "accessibility_label": _LABEL, "visible_to_user_ids": array(string())},
        "confirm",
    ),
}


def _leaf(*keys: str) -> Check:
    return record({"type": anything}, dict.fromkeys((*keys, "style"), anything))


_LEAVES: Mapping[str, Check] = {
    "broadcast": _leaf("range"),
    "channel": _leaf("channel_id"),
    "color": _leaf("value"),
    "date": _leaf("timestamp", "format", "url", "fallback"),
    "emoji": _leaf("name", "unicode", "skin_tone", "url"),
    "link": _leaf("url", "text", "unsafe"),
    "team": _leaf("team_id"),
    "text": record({"type": anything, "text": string()}, {"style": anything}),
    "user": _leaf("user_id"),
    "usergroup": _leaf("usergroup_id"),
}
_OTHER = "unsupported type of a rich text element"


def _rich(inner: Check, *more: str) -> Check:
    return record({"type": anything, "elements": array(inner, least=0)}, dict.fromkeys(more, anything))


_PARTS: Mapping[str, Check] = {
    "rich_text_section": _rich(tagged(_LEAVES)),
    "rich_text_preformatted": _rich(tagged(_LEAVES), "border", "language"),
    "rich_text_quote": _rich(tagged(_LEAVES), "border"),
}
_LIST = _rich(tagged({"rich_text_section": _PARTS["rich_text_section"]}, _OTHER), "style", "indent", "offset", "border")
RICH_ELEMENTS = array(tagged({**_PARTS, "rich_text_list": _LIST}, _OTHER))
