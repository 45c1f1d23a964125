"""Which projects and issue types are there, and who can an issue be assigned to?"""

from urllib.parse import quote

from gofer.canonical import as_list, as_object, as_text
from gofer.errors import ToolError
from gofer.tools.jira.api import JiraApi, JiraRefusal
from gofer.tools.jira.issues import named, one_line, person
from gofer.tools.tool import Call

PAGE = 100
"""Projects, types or people that are listed at most."""


async def project_keys(api: JiraApi, call: Call) -> list[str]:
    """The keys of the projects that Gofer's account sees. Raises JiraRefusal, TemporaryError."""
    page = await api.read(call, "/project/search", maxResults=PAGE, orderBy="key")
    return [as_text(as_object(one).get("key")) for one in as_list(page.get("values"))]


async def type_names(api: JiraApi, call: Call, project: str) -> list[str]:
    """The types that a new issue of a project can have. Raises JiraRefusal, TemporaryError."""
    page = await api.read(call, f"/issue/createmeta/{quote(project, safe='')}/issuetypes", maxResults=PAGE)
    return [named(one) for one in as_list(page.get("issueTypes"))]


async def what_exists(api: JiraApi, call: Call, project: str, refused: JiraRefusal) -> ToolError:
    """A refusal of a new issue, with the projects or types to choose from where it is about them."""
    said = refused.message_to_model
    if "project" in refused.fields:
        said += f" The projects are: {', '.join(await project_keys(api, call)) or 'none that Gofer can see'}."
    elif "issuetype" in refused.fields:
        said += f" The types of {project} are: {', '.join(await type_names(api, call, project))}."
    return ToolError(said, code=refused.code)


async def account_id(api: JiraApi, call: Call, name: str) -> str:
    """The account of the one person of that name. Raises ToolError that names those it could be."""
    found = await api.listed(call, "/user/search", query=name, maxResults=PAGE)
    people = [user for user in found if user.get("active") is True and user.get("accountType") == "atlassian"]
    exact = [user for user in people if person(user).casefold() == one_line(name).casefold()]
    match exact or people:
        case [user]:
            return as_text(user.get("accountId"))
        case []:
            raise ToolError(f"Jira knows nobody called {one_line(name, 80)!r}; leave the assignee out.")
        case several:
            names = ", ".join(person(user) for user in several[:10])
            raise ToolError(f"Several people could be meant: {names}. Write the whole name, or leave it out.")
