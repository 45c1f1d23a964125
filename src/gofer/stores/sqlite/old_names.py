"""The names of conversations that earlier versions wrote into rows of one machine, and their replacement by tokens."""

import logging
import sqlite3

from gofer.stores.sqlite.database import Database
from gofer.values.errors import Corrupt, TemporaryError
from gofer.values.row_tokens import Tokens

_TABLES = ("heads", "leases")
"""Tables with a conversation."""

_log = logging.getLogger(__name__)


async def replace_old_names(database: Database, tokens: Tokens) -> int:
    """Replace all names in one transaction; return how many there were. Only for the process that serves the file."""
    try:
        replaced = await database.run(lambda connection: _replace(connection, tokens))
        if replaced:
            await database.empty_log()
        return replaced
    except (TemporaryError, Corrupt) as error:
        # Runs go on without: the rows are read by their old names, or reported as damaged, by those who need them.
        _log.warning("names of conversations in the database were not all replaced: %s", error)
        return 0


def _replace(connection: sqlite3.Connection, tokens: Tokens) -> int:
    replaced = 0
    for table in _TABLES:
        for (name,) in connection.execute(
            f"SELECT DISTINCT conversation FROM {table} WHERE conversation <> ''"
        ).fetchall():
            token = tokens.conversation(str(name))
            if token != name:
                connection.execute(
                    f"UPDATE OR REPLACE {table} SET conversation = ? WHERE conversation = ?", (token, name)
                )
                replaced += 1
    return replaced
