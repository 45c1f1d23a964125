"""The projects of a site, and the people whom a field can name."""

from gofer.sources.jira.api import Fields, JiraApi
from gofer.sources.jira.issues import one_line, person
from gofer.tools.definition import Call
from gofer.values.canonical_json import as_list, as_object, as_text
from gofer.values.errors import ToolError

PAGE = 100
"""The most projects or people in a list."""


async def project_keys(api: JiraApi, call: Call) -> list[str]:
    """Return the keys of the projects that Gofer's account can see. Raises JiraRefusal, TemporaryError."""
    page = await api.read(call, "/project/search", maxResults=PAGE, orderBy="key")
    return [as_text(as_object(one).get("key")) for one in as_list(page.get("values"))]


async def account_id(api: JiraApi, call: Call, name: str) -> str:
    """Return the account of the only person with a full name or e-mail address.

    Raises ToolError, which lists the candidates if several match.
    """
    found = [user for user in await api.listed(call, "/user/search", query=name, maxResults=PAGE) if user.get("active")]
    # Customers of service projects count only where no colleague matches, and apps never.
    people = [user for user in found if user.get("accountType") == "atlassian"]
    people = people or [user for user in found if user.get("accountType") == "customer"]
    exact = [user for user in people if one_line(name).casefold() in _names(user)]
    match exact or people:
        case [user]:
            return as_text(user.get("accountId"))
        case []:
            raise ToolError(f"Jira knows no person called {one_line(name, 80)!r}; ask who is meant, or leave it out.")
        case several:
            names = ", ".join(person(user) for user in several[:10])
            raise ToolError(f"Several people match: {names}. Write the full name or the e-mail address of one.")


def _names(user: Fields) -> tuple[str, str]:
    return person(user).casefold(), as_text(user.get("emailAddress")).casefold()
