"""The people of a user group."""

from pydantic import Field

from gofer.sources.slack.api import SlackApi, SlackRefusal
from gofer.sources.slack.names import UNKNOWN, look_up, one_line
from gofer.tools.definition import Arguments, Call, ToolResult
from gofer.values.canonical_json import as_list, as_object, as_text


class GetGroup(Arguments):
    """Which group."""

    handle: str = Field(min_length=1, max_length=200, description="The group's handle, such as @dev-leads.")


async def get_group(api: SlackApi, call: Call, arguments: GetGroup) -> ToolResult:
    """Return the people of a group by name; none for a group that is switched off or not there. Details: their ids."""
    wanted = one_line(arguments.handle).removeprefix("@").casefold()
    try:
        groups = as_list((await api.read(call, "usergroups.list", include_users="true")).get("usergroups"))
    except SlackRefusal as refused:
        if refused.code != "plan_upgrade_required":
            raise
        groups: list[object] = []
    for group in map(as_object, groups):
        if as_text(group.get("handle")).casefold() == wanted and not group.get("date_delete"):
            members = [as_text(user) for user in as_list(group.get("users"))]
            names = await look_up(api, call, members)
            return group_result(wanted, members, [name for name in map(names.person, members) if name != UNKNOWN])
    return ToolResult(f"There is no user group @{wanted}.", "found no group", {"members": []})


def group_result(handle: str, members: list[str], known: list[str]) -> ToolResult:
    """Return a group that was found: ids of its members, and the names that are known."""
    text = f"@{handle} has {len(members)} members: {', '.join(known)}."
    return ToolResult(text, f"looked up a group of {len(members)}", {"members": members})
