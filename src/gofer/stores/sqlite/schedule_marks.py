"""The marks of schedules in SQLite: the time up to which the scheduler has settled each schedule.

No run depends on a mark. A scheduled run is claimed by its nominal time, so a lost mark only makes the scheduler claim
runs again that exist already.
"""

import sqlite3
from collections.abc import Mapping

from gofer.stores.sqlite.database import Database

SCHEMA = "CREATE TABLE IF NOT EXISTS marks (schedule TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT, WITHOUT ROWID;"


class SqliteMarks:
    """The marks of schedules in the database of the state."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def read(self) -> Mapping[str, int]:
        """Return the marks of all schedules. Raises TemporaryError, Corrupt."""

        def work(connection: sqlite3.Connection) -> Mapping[str, int]:
            return dict(connection.execute("SELECT schedule, at FROM marks"))

        return await self._database.run(work, savepoint=False)

    async def write(self, marks: Mapping[str, int]) -> None:
        """Replace the marks of all schedules. Raises TemporaryError, Corrupt."""

        def work(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM marks")
            connection.executemany("INSERT INTO marks VALUES (?, ?)", list(marks.items()))

        await self._database.run(work)
