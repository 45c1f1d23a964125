"""The Home tab of the app, which `views.publish` fills for one person."""

from gofer_simulators.json_values import JsonObject, compact, is_object, objects
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.backend import Answer, Backend
from gofer_simulators.slack.block_forms import HOME, check_forms
from gofer_simulators.slack.content import with_id
from gofer_simulators.slack.form_checks import IDENTITY, Check, anything, array, one_of, record, string
from gofer_simulators.slack.shapes import stable_id
from gofer_simulators.slack.workspace import SlackRefusal

MAX_BYTES = 250_000
MAX_BLOCKS = 100
_VIEW: Check = record(
    {"type": one_of("home"), "blocks": array(anything, MAX_BLOCKS, 0)},
    {"private_metadata": string(3_000, least=0), "callback_id": IDENTITY, "external_id": IDENTITY},
)


def publish(backend: Backend, arguments: Arguments) -> Answer:
    """Answer `views.publish`."""
    workspace = backend.workspace
    user = arguments.required("user_id")
    view = arguments.json("view", "invalid_arguments")
    if user not in workspace.users or not is_object(view):
        raise SlackRefusal("invalid_arguments", "[ERROR] invalid value of: user_id or view")
    if not workspace.bot.home:
        raise SlackRefusal("not_enabled")
    if len(compact(view)) > MAX_BYTES:
        raise SlackRefusal("view_too_large")
    before = workspace.homes.get(user, {})
    if arguments.text("hash") and arguments.text("hash") != before.get("hash"):
        raise SlackRefusal("hash_conflict")
    bot = workspace.bot
    shown: dict[str, object] = {
        "private_metadata": "",
        "callback_id": "",
        **view,
        "id": f"V{stable_id('home', user)}",
        "team_id": workspace.team.id,
        "app_id": bot.app_id,
        "bot_id": bot.bot_id,
        "blocks": _blocks(view),
        "hash": workspace.next_ts(),
    }
    workspace.homes[user] = shown
    return {"view": shown}


def _blocks(view: JsonObject) -> list[JsonObject]:
    """Return the checked blocks of a view. Raises SlackRefusal(invalid_arguments), as Slack does for views."""
    try:
        _VIEW(view, "/view")
        given = objects(view["blocks"])
        check_forms(given, HOME)
    except SlackRefusal as refusal:
        raise SlackRefusal("invalid_arguments", refusal.hint) from refusal
    return [with_id(block, index) for index, block in enumerate(given)]
