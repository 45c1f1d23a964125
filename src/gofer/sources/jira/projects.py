"""The projects, issue types and priorities of a site, and the people to whom an issue can be assigned."""

from urllib.parse import quote

from gofer.sources.jira.api import Fields, JiraApi, JiraRefusal
from gofer.sources.jira.issues import named, one_line, person
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

PAGE = 100
"""The most projects, types or people in a list."""


async def project_keys(api: JiraApi, call: Call) -> list[str]:
    """Return the keys of the projects that Gofer's account can see. Raises JiraRefusal, TemporaryError."""
    page = await api.read(call, "/project/search", maxResults=PAGE, orderBy="key")
    return [as_text(as_object(one).get("key")) for one in as_list(page.get("values"))]


async def type_names(api: JiraApi, call: Call, project: str) -> list[str]:
    """Return the types for new issues of a project. Raises JiraRefusal, TemporaryError."""
    page = await api.read(call, f"/issue/createmeta/{quote(project, safe='')}/issuetypes", maxResults=PAGE)
    return [named(one) for one in as_list(page.get("issueTypes"))]


async def priority_names(api: JiraApi, call: Call, project: str, kind: str) -> list[str]:
    """Return the priorities for new issues of a type. Raises JiraRefusal, TemporaryError."""
    types = f"/issue/createmeta/{quote(project, safe='')}/issuetypes"
    known = [as_object(one) for one in as_list((await api.read(call, types, maxResults=PAGE)).get("issueTypes"))]
    for one in known:
        if named(one).casefold() != kind.casefold():
            continue
        page = await api.read(call, f"{types}/{as_text(one.get('id'))}", maxResults=PAGE)
        fields = [as_object(field) for field in as_list(page.get("fields"))]
        return [named(value) for field in fields if field.get("key") == "priority" for value in _allowed(field)]
    return []


def _allowed(field: Fields) -> list[object]:
    return list(as_list(field.get("allowedValues")))


async def with_existing_choices(api: JiraApi, call: Call, project: str, kind: str, refused: JiraRefusal) -> ToolError:
    """Return the refusal of a new issue. If a choice was wrong, the message lists the existing choices."""
    message = refused.message_to_model
    if "project" in refused.fields:
        message += f" The projects are: {', '.join(await project_keys(api, call)) or 'none that Gofer can see'}."
    elif "issuetype" in refused.fields:
        message += f" The types of {project} are: {', '.join(await type_names(api, call, project))}."
    elif "priority" in refused.fields and (names := await priority_names(api, call, project, kind)):
        message += f" The priorities there are: {', '.join(names)}."
    return ToolError(message, code=refused.code)


async def account_id(api: JiraApi, call: Call, name: str) -> str:
    """Return the account of the only person with a name.

    Raises ToolError, which lists the candidates if several match.
    """
    found = await api.listed(call, "/user/search", query=name, maxResults=PAGE)
    people = [user for user in found if user.get("active") is True and user.get("accountType") == "atlassian"]
    exact = [user for user in people if person(user).casefold() == one_line(name).casefold()]
    match exact or people:
        case [user]:
            return as_text(user.get("accountId"))
        case []:
            raise ToolError(f"Jira knows no person called {one_line(name, 80)!r}; leave the assignee out.")
        case several:
            names = ", ".join(person(user) for user in several[:10])
            raise ToolError(f"Several people match: {names}. Write the full name, or leave the assignee out.")
