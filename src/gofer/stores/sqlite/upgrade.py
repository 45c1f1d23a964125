"""The takeover of a database that has the keys of its runs in a table."""

import sqlite3

from gofer.journal.keys import Keys
from gofer.values.errors import TemporaryError


def move_keys(keys: Keys, connection: sqlite3.Connection) -> None:
    """Move the table `keys` into the file of keys, and leave no copy of a key in the database or its log.

    Each step can be done twice. Raises TemporaryError while another process uses the database.
    """
    connection.execute("BEGIN IMMEDIATE")
    if connection.execute("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'keys'").fetchone():
        for run, key, at in connection.execute("SELECT run, key, claimed_at FROM keys WHERE length(key) > 0"):
            keys.put(run, key, at)
        keys.sync()
        connection.execute("DROP TABLE keys")
    connection.execute("COMMIT")
    # Pages that were split or merged earlier may hold copies; only a rewrite of the whole file removes them.
    connection.execute("VACUUM")
    (busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        raise TemporaryError("Another process uses the database, so its keys cannot be moved now; stop it, then start.")
