"""The tools of Notion."""

from collections.abc import Sequence
from typing import Any

from gofer.sources.notion.api import NotionApi
from gofer.sources.notion.comments import notion_add_comment
from gofer.sources.notion.find import notion_query_database, notion_search
from gofer.sources.notion.get_file import notion_get_file
from gofer.sources.notion.get_page import notion_get_page
from gofer.sources.notion.ids import notion_find_place
from gofer.sources.notion.people import notion_find_member
from gofer.sources.notion.write import notion_append_content, notion_update_properties
from gofer.tools.declare import ToolDeclaration

TOOLS: Sequence[ToolDeclaration[NotionApi, Any]] = (
    notion_get_page,
    notion_find_place,
    notion_find_member,
    notion_get_file,
    notion_search,
    notion_query_database,
    notion_add_comment,
    notion_update_properties,
    notion_append_content,
)
