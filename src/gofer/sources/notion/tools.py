"""The tools of Notion, and what the model reads about them."""

from functools import partial
from typing import Any

from gofer.sources.notion import mocks
from gofer.sources.notion.api import NotionApi
from gofer.sources.notion.comments import AddComment, add_comment, find_comment
from gofer.sources.notion.find import QueryDatabase, Search, query_database, search
from gofer.sources.notion.get_file import FETCH, GetFile, get_file
from gofer.sources.notion.get_page import GetPage, get_page
from gofer.sources.notion.ids import find_id, is_at
from gofer.sources.notion.places import FindPlace, find_place, page_place
from gofer.sources.notion.write import AppendContent, UpdateProperties, append_content, find_content, update_properties
from gofer.tools.definition import Tool
from gofer.tools.places import Writes

_READ = frozenset({"read content"})


def notion_tools(api: NotionApi) -> tuple[Tool[Any], ...]:
    """Return the tools of one connection to Notion."""
    return (*_reading(api), *_writing(api))


def _reading(api: NotionApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="notion_get_page",
            description="Read a page of Notion: title, properties, content with the ids of its blocks, open comments.",
            effect="read",
            arguments=GetPage,
            act=partial(get_page, api),
            everyday="wiki, doc, document, article; open it, read it, what is in it, what does it say",
            mock=mocks.get_page,
            # A request for each block that has others below it, and for the comments of each.
            timeout=90.0,
            scopes=_READ | {"read comments"},
        ),
        Tool(
            name="notion_find_place",
            description="Look up what a page stands in.",
            effect="read",
            arguments=FindPlace,
            act=partial(find_place, api),
            mock=mocks.find_place,
            internal=True,
            scopes=_READ,
        ),
        Tool(
            name=FETCH,
            description="Fetch a file of a page that the run was told of.",
            effect="read",
            arguments=GetFile,
            act=partial(get_file, api),
            mock=mocks.get_file,
            internal=True,
            scopes=_READ,
        ),
        Tool(
            name="notion_search",
            description="Search Notion by title for pages and databases that are shared with Gofer.",
            effect="read",
            arguments=Search,
            act=partial(search, api),
            everyday="wiki, handbook, docs, documentation, knowledge base, design doc, article, note; look up, find, "
            "where is it written",
            mock=mocks.search,
            scopes=_READ,
        ),
        Tool(
            name="notion_query_database",
            description="List rows of a Notion database with their properties, all or those with given values.",
            effect="read",
            arguments=QueryDatabase,
            act=partial(query_database, api),
            everyday="table, roadmap, tracker, board, entries, records, overdue, list all, filter",
            mock=mocks.query_database,
            timeout=40.0,
            scopes=_READ | {"read user information"},
        ),
    )


def _writing(api: NotionApi) -> tuple[Tool[Any], ...]:
    return (
        Tool(
            name="notion_add_comment",
            description="Comment on a Notion page or on one block of it, or reply to an open discussion.",
            effect="lookup",
            arguments=AddComment,
            act=partial(add_comment, api),
            everyday="leave a note, feedback, reply or remark on a doc, document or wiki",
            mock=mocks.add_comment,
            timeout=40.0,
            look=partial(find_comment, api),
            settle=5.0,
            # A page may be written as a link, as an id, or left out; a block has one id wherever it is.
            destination=lambda arguments: find_id(arguments.block) or "",
            writes=_on_a_page("text", "block", "discussion"),
            where=page_place,
            scopes=_READ | {"read comments", "insert comments"},
        ),
        Tool(
            name="notion_update_properties",
            description="Set properties of a Notion page: status, people, dates and others. It says which values there"
            " are when one does not exist.",
            effect="keyed",
            arguments=UpdateProperties,
            act=partial(update_properties, api),
            everyday="change, edit or set a field, due date, deadline, owner, assignee, status of a wiki doc or row",
            mock=mocks.update_properties,
            timeout=40.0,
            writes=_on_a_page("properties"),
            where=page_place,
            scopes=_READ | {"update content", "read user information"},
        ),
        Tool(
            name="notion_append_content",
            description="Add content to a Notion page, at its end or after one block; what is there stays.",
            effect="lookup",
            arguments=AppendContent,
            act=partial(append_content, api),
            everyday="write down in the wiki or doc, add a section, paragraph, notes, minutes, document it",
            mock=mocks.append_content,
            timeout=40.0,
            look=partial(find_content, api),
            settle=5.0,
            writes=_on_a_page("text", "after"),
            where=page_place,
            scopes=_READ | {"insert content"},
        ),
    )


def _on_a_page(*content: str) -> Writes:
    # A block and a discussion are refused unless they are on the page.
    return Writes({"page": is_at}, frozenset(content))
