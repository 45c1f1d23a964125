"""The page and the database that mocks of Notion's tools show."""

from gofer.sources.notion.api import Fields
from gofer.tools.mock_ids import MOMENT, uuid


def mock_page(id_: str, title: str, database: str) -> Fields:
    """Return a row of a database as Notion gives it."""
    return {
        "object": "page",
        "id": id_,
        "parent": {"database_id": uuid(f"database {database}"), "data_source_id": uuid(database)},
        "url": f"https://www.notion.so/{id_.replace('-', '')}",
        "last_edited_time": MOMENT,
        "properties": {
            "Name": {"id": "title", "type": "title", "title": words_of(title)},
            "Status": {"id": "stat", "type": "status", "status": {"name": "In progress"}},
        },
    }


def mock_source(name: str) -> Fields:
    """Return a data source of a name."""
    return {"id": uuid(name), "title": words_of(name)}


def words_of(text: str) -> list[Fields]:
    """Return a text as rich text."""
    return [{"type": "text", "plain_text": text, "text": {"content": text}}]
