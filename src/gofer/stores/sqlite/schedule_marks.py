"""The marks of schedules in SQLite: the time up to which a scheduler has settled each.

Runs do not depend on it: a nominal time is claimed by its identity, so one that is claimed again is a duplicate.
"""

import sqlite3
from collections.abc import Mapping

from gofer.stores.sqlite.database import Database

SCHEMA = "CREATE TABLE IF NOT EXISTS marks (schedule TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;"


class SqliteMarks:
    """Marks in the database of the state."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> Mapping[str, int]:
        """Return all marks. Raises TemporaryError, Damaged."""

        def work(connection: sqlite3.Connection) -> Mapping[str, int]:
            return dict(connection.execute("SELECT schedule, at FROM marks"))

        return await self._database.run(work)

    async def write(self, marks: Mapping[str, int]) -> None:
        """Replace all marks. Raises TemporaryError, Damaged."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM marks")
            connection.executemany("INSERT INTO marks VALUES (?, ?)", list(marks.items()))

        await self._database.run(work)
