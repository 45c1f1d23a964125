"""The state of the simulated Notion workspace, and the changes by people and by the connection."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote
from uuid import UUID

import gofer_simulators.notion.rich_text as rich_text
from gofer_simulators.json_values import objects, text_of
from gofer_simulators.notion.api_request import Answer, invalid, not_found
from gofer_simulators.notion.blocks import Block, to_markdown
from gofer_simulators.notion.properties import Property, empty


@dataclass(frozen=True, slots=True)
class User:
    """A person, or the bot of a connection."""

    id: str
    name: str
    bot: bool = False
    email: str = ""
    guest: bool = False
    """Whether the person is a guest of single pages; lists of people leave guests out."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database with its one data source."""

    id: str
    source: str
    """The id of the data source."""
    name: str
    columns: Mapping[str, Property]
    shared: bool = True


@dataclass(slots=True)
class Page:
    """A page: a row of a database, or a page outside databases."""

    id: str
    database: Database | None
    values: dict[str, object]
    """The values by property name, in the form of a world file."""
    blocks: list[Block]
    created: tuple[str, str]
    """Time of the creation, and id of the user."""
    edited: tuple[str, str]
    """Time of the newest change, and id of the user."""
    parent: str = ""
    """The id of the parent page; empty for a row and for a page at the top of the workspace."""
    shared: bool = True
    trashed: bool = False

    @property
    def columns(self) -> Mapping[str, Property]:
        """The properties of the page, by name."""
        if self.database:
            return self.database.columns
        return _TITLE

    @property
    def title(self) -> str:
        """The title of the page."""
        return next((str(self.values[name]) for name, one in self.columns.items() if one.kind == "title"), "")

    def all_blocks(self) -> Iterator[Block]:
        """Yield the blocks of the page at every depth, in reading order."""
        for block in self.blocks:
            yield from block.walk()


@dataclass(slots=True)
class Comment:
    """One comment of a discussion about a page or a block."""

    id: str
    discussion: str
    page: str
    block: str
    """The id of the block; empty for a discussion about the page itself."""
    texts: list[Answer]
    created: tuple[str, str]
    resolved: bool = False
    files: Sequence[Block] = ()
    """The attached files, each as a block."""


@dataclass(frozen=True, slots=True)
class Change:
    """One change to a page or a comment, with the fields that events show."""

    type: str
    entity: tuple[str, str]
    """The id of the changed object, and `page` or `comment`."""
    author: User
    at: str
    parent: Answer
    properties: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    page: str = ""


_TITLE = {"title": Property(id="title", name="title", kind="title", options={})}


FILE_SECONDS = 3600
"""Seconds until the address of a file expires."""


@dataclass(slots=True)
class Workspace:
    """One workspace and the connection that has access to it."""

    id: str
    name: str
    bot: User
    clock: Callable[[], float]
    users: dict[str, User] = field(default_factory=dict[str, User])
    databases: dict[str, Database] = field(default_factory=dict[str, Database])
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    comments: dict[str, Comment] = field(default_factory=dict[str, Comment])
    announce: Callable[[Change], None] = lambda _: None
    origin: str = "https://prod-files-secure.s3.us-west-2.amazonaws.com"
    """The origin of file addresses."""
    _ids: Counter[str] = field(default_factory=Counter[str])
    _last: int = 0

    def address(self, block: Block) -> Answer:
        """Return the address of a file, which needs no token and expires after an hour."""
        name = block.file[0] if block.file else ""
        now = datetime.fromtimestamp(self.clock(), UTC)
        query = f"X-Amz-Date={now:%Y%m%dT%H%M%SZ}&X-Amz-Expires={FILE_SECONDS}"
        signature = self.signature(block.id, f"{now:%Y%m%dT%H%M%SZ}")
        path = f"{self.id}/{block.id}/{quote(name, safe='')}"
        url = f"{self.origin}/{path}?{query}&X-Amz-Signature={signature}"
        expires = now + timedelta(seconds=FILE_SECONDS)
        return {"url": url, "expiry_time": f"{expires:%Y-%m-%dT%H:%M:%S}.000Z"}

    def property_files(self, page: Page) -> Iterator[Block]:
        """Yield the files that Notion stores for properties of a page, each as a block."""
        for name, column in page.columns.items():
            for one in objects(page.values[name]) if column.kind == "files" else ():
                if "text" in one:
                    content = text_of(one, "text").encode()
                    yield Block(text_of(one, "id"), "file", file=(text_of(one, "name"), content))

    def stored_files(self) -> Iterator[Block]:
        """Yield every file that Notion stores, each as a block."""
        for page in self.pages.values():
            yield from (block for block in page.all_blocks() if block.file)
            yield from self.property_files(page)
        for comment in self.comments.values():
            yield from comment.files

    def signature(self, block: str, date: str) -> str:
        """Return the signature in the address of a file that was made at `date`."""
        return hashlib.sha256(f"{self.id}/{block}/{date}".encode()).hexdigest()

    def new_id(self, kind: str = "block") -> str:
        """Return a new id. Every simulation makes the same sequence of ids for each kind."""
        self._ids[kind] += 1
        name = f"{self.id}/{kind}/{self._ids[kind]}"
        return str(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4))

    def now(self) -> str:
        """Return the time as Notion writes it; every call returns a later time."""
        self._last = max(self._last + 1, round(self.clock() * 1000))
        moment = datetime.fromtimestamp(self._last // 1000, UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{self._last % 1000:03}Z"

    def user(self, id_: str) -> User:
        """Return a user by id. Raises NotionRefusal."""
        if id_ not in self.users:
            raise not_found("user", id_)
        return self.users[id_]

    def name_of(self, id_: str) -> str:
        """Return the name of a user by id. Raises NotionRefusal."""
        if id_ not in self.users:
            raise invalid(f"Could not find user with ID: {id_}.")
        return self.users[id_].name

    def page(self, id_: str) -> Page:
        """Return a page that is shared with the connection. Raises NotionRefusal."""
        page = self.pages.get(id_)
        if page is None or not page.shared:
            raise not_found("page", id_)
        return page

    def block(self, id_: str) -> tuple[Page, Block]:
        """Return the page of a block, and the block. Raises NotionRefusal unless the page is shared."""
        for page in self.pages.values():
            for block in page.all_blocks():
                if page.shared and block.id == id_:
                    return page, block
        raise not_found("block", id_)

    def parent(self, page: Page) -> Answer:
        """Return the parent of a page as events show it."""
        if page.database:
            return {"id": page.database.id, "type": "database", "data_source_id": page.database.source}
        if page.parent:
            return {"id": page.parent, "type": "page"}
        return {"id": self.id, "type": "space"}

    def create(
        self,
        database: Database | None,
        values: Mapping[str, object],
        blocks: Sequence[Block],
        by: User,
        parent: str = "",
    ) -> Page:
        """Create a page, with its event."""
        columns = _TITLE
        if database:
            columns = database.columns
        whole = {name: values.get(name, empty(column.kind)) for name, column in columns.items()}
        stamp = (self.now(), by.id)
        page = Page(self.new_id("page"), database, whole, self.stamped(blocks, stamp), stamp, stamp, parent)
        self.pages[page.id] = page
        self._announce_page("page.created", page, by)
        return page

    def set_values(self, page: Page, values: Mapping[str, object], by: User) -> None:
        """Set properties, with an event if a value changed."""
        changed = {name: value for name, value in values.items() if page.values.get(name) != value}
        page.values.update(changed)
        if changed:
            ids = tuple(page.columns[name].id for name in changed)
            self._announce_page("page.properties_updated", page, by, properties=ids)

    def content_changed(self, page: Page, blocks: Sequence[Block], by: User) -> None:
        """Send the event for added, changed or removed blocks of a page."""
        self._announce_page("page.content_updated", page, by, blocks=tuple(block.id for block in blocks))

    def trash(self, page: Page, by: User, *, trashed: bool) -> None:
        """Move a page into or out of the trash, with an event if this is a change."""
        if page.trashed != trashed:
            page.trashed = trashed
            if trashed:
                self._announce_page("page.deleted", page, by)
            else:
                self._announce_page("page.undeleted", page, by)

    def comment(
        self,
        page: Page,
        block: str,
        texts: list[Answer],
        by: User,
        discussion: str = "",
        files: Sequence[Block] = (),
    ) -> Comment:
        """Create a comment in an existing or a new discussion, with its event."""
        comment = Comment(
            id=self.new_id("comment"),
            discussion=discussion or self.new_id("discussion"),
            page=page.id,
            block=block,
            texts=texts,
            created=(self.now(), by.id),
            files=files,
        )
        self.comments[comment.id] = comment
        parent: Answer = {"id": page.id, "type": "page"}
        if block:
            parent = {"id": block, "type": "block"}
        if page.shared:
            self.announce(
                Change("comment.created", (comment.id, "comment"), by, comment.created[0], parent, page=page.id)
            )
        return comment

    def stamped(self, blocks: Sequence[Block], stamp: tuple[str, str]) -> list[Block]:
        """Set time and user of blocks and of all blocks below them; return the blocks."""
        for block in blocks:
            for one in block.walk():
                one.created = stamp
        return list(blocks)

    def _announce_page(
        self, kind: str, page: Page, by: User, properties: tuple[str, ...] = (), blocks: tuple[str, ...] = ()
    ) -> None:
        page.edited = (self.now(), by.id)
        if page.shared:
            parent = self.parent(page)
            self.announce(Change(kind, (page.id, "page"), by, page.edited[0], parent, properties, blocks, page.id))

    def state(self) -> dict[str, object]:
        """Return the pages by id with properties, content and comments, in plain JSON."""
        return {page.id: self._page_state(page) for page in self.pages.values()}

    def _page_state(self, page: Page) -> dict[str, object]:
        comments = [one for one in self.comments.values() if one.page == page.id]
        database = None
        if page.database:
            database = page.database.name
        return {
            "title": page.title,
            "database": database,
            "trashed": page.trashed,
            "properties": {name: page.values[name] for name, one in page.columns.items() if one.kind != "title"},
            "markdown": to_markdown(page.blocks),
            "comments": [
                {
                    "id": one.id,
                    "discussion": one.discussion,
                    "block": one.block or None,
                    "by": self.users[one.created[1]].name,
                    "text": rich_text.plain(one.texts),
                    "resolved": one.resolved,
                }
                for one in comments
            ],
        }
