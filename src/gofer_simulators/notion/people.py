"""The actions of people in the simulated Notion."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

import gofer_simulators.notion.rich_text as rich_text
from gofer_simulators.notion.api_request import invalid
from gofer_simulators.notion.blocks import Block, from_markdown
from gofer_simulators.notion.workspace import Comment, Database, Page, User, Workspace

_T = TypeVar("_T")


class People:
    """The actions of people. Each is a change with its events, and takes pages, people and databases by id or name."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def set_status(self, page: str, status: str, *, by: str, name: str = "") -> None:
        """Set the status of a row. Raises NotionRefusal.

        A row with several properties of the kind status needs the `name` of one.
        """
        row = self.page(page)
        columns = [one.name for one in row.columns.values() if one.kind == "status" and name in ("", one.name)]
        if len(columns) != 1 or status not in row.columns[columns[0]].options:
            raise invalid(f"The page {row.title!r} needs exactly one status property, with the option {status!r}.")
        self.set_values(page, {columns[0]: status}, by=by)

    def set_values(self, page: str, values: Mapping[str, object], *, by: str) -> None:
        """Set properties, with values as in a world file and people by id. Raises NotionRefusal."""
        row = self.page(page)
        if unknown := set(values) - set(row.columns):
            raise invalid(f"The page {row.title!r} has no property {min(unknown)!r}.")
        self._workspace.set_values(row, values, self.user(by))

    def create_page(
        self, database: str, title: str, *, by: str, values: Mapping[str, object] | None = None, markdown: str = ""
    ) -> Page:
        """Create a row in a database."""
        home = self.database(database)
        name = next(one.name for one in home.columns.values() if one.kind == "title")
        blocks = from_markdown(markdown, self._workspace.new_id)
        return self._workspace.create(home, {**(values or {}), name: title}, blocks, self.user(by))

    def write(self, page: str, markdown: str, *, by: str) -> None:
        """Add content at the end of a page."""
        self._append(page, from_markdown(markdown, self._workspace.new_id), by)

    def attach(self, page: str, name: str, content: bytes, *, by: str, kind: str = "file") -> Block:
        """Add a file at the end of a page: a block of the kind `file`, `image`, `pdf`, `audio` or `video`."""
        block = Block(self._workspace.new_id(), kind, file=(name, content))
        self._append(page, [block], by)
        return block

    def remove(self, page: str, block: str) -> None:
        """Remove a top-level block from a page. The simulator sends no event."""
        row = self.page(page)
        row.blocks[:] = [one for one in row.blocks if one.id != block]

    def trash(self, page: str, *, by: str) -> None:
        """Move a page into the trash."""
        self._workspace.trash(self.page(page), self.user(by), trashed=True)

    def comment(
        self,
        page: str,
        text: str,
        *,
        by: str,
        block: str = "",
        discussion: str = "",
        files: Mapping[str, bytes] | None = None,
    ) -> Comment:
        """Comment on a page or a block, in an existing or a new discussion, with files by name.

        Raises NotionRefusal.
        """
        row = self.page(page)
        if block and block not in {one.id for one in row.all_blocks()}:
            raise invalid(f"The page {row.title!r} has no block {block!r}.")
        attached = [Block(self._workspace.new_id(), "pdf", file=(name, one)) for name, one in (files or {}).items()]
        texts = rich_text.from_markdown(text)
        return self._workspace.comment(row, block, texts, self.user(by), discussion, attached)

    def delete_comment(self, comment: str) -> None:
        """Delete a comment. The simulator sends no event."""
        del self._workspace.comments[comment]

    def resolve(self, discussion: str) -> None:
        """Resolve a discussion; the API then no longer lists its comments."""
        for comment in self._workspace.comments.values():
            comment.resolved |= comment.discussion == discussion

    def page(self, page: str) -> Page:
        """Return the page with this id or title. Raises NotionRefusal unless there is exactly one."""
        found = [one for one in self._workspace.pages.values() if page in (one.id, one.title)]
        return _single(found, f"pages {page!r}")

    def database(self, database: str) -> Database:
        """Return the database with this id or name. Raises NotionRefusal unless there is exactly one."""
        found = [one for one in self._workspace.databases.values() if database in (one.id, one.source, one.name)]
        return _single(found, f"databases {database!r}")

    def user(self, user: str) -> User:
        """Return the user with this id or name. Raises NotionRefusal unless there is exactly one."""
        found = [one for one in self._workspace.users.values() if user in (one.id, one.name)]
        return _single(found, f"people {user!r}")

    def _append(self, page: str, blocks: Sequence[Block], by: str) -> None:
        row = self.page(page)
        author = self.user(by)
        row.blocks += self._workspace.stamped(blocks, (self._workspace.now(), author.id))
        self._workspace.content_changed(row, blocks, author)


def _single(found: Sequence[_T], description: str) -> _T:
    if len(found) != 1:
        raise invalid(f"There are {len(found)} {description}.")
    return found[0]
