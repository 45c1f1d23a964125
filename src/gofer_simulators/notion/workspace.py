"""The state of the simulated Notion workspace, and the changes that people and the connection make."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import quote
from uuid import UUID

import gofer_simulators.notion.rich_text as rich_text
from gofer_simulators.notion.ask import Answer, invalid, not_found
from gofer_simulators.notion.blocks import Block, to_markdown
from gofer_simulators.notion.properties import Property, empty


@dataclass(frozen=True, slots=True)
class User:
    """A person, or the bot of a connection."""

    id: str
    name: str
    bot: bool = False
    email: str = ""


@dataclass(frozen=True, slots=True)
class Database:
    """A database with its one data source."""

    id: str
    source: str
    """Id of the data source."""
    name: str
    columns: Mapping[str, Property]
    shared: bool = True


@dataclass(slots=True)
class Page:
    """A page: a row of a database, or one that stands by itself."""

    id: str
    database: Database | None
    values: dict[str, object]
    """By the name of the property, in the form of a world file."""
    blocks: list[Block]
    created: tuple[str, str]
    """When and by whom; likewise `edited`."""
    edited: tuple[str, str]
    parent: str = ""
    """Id of the page it is below; empty for a row, and at the top of the workspace."""
    shared: bool = True
    trashed: bool = False

    @property
    def columns(self) -> Mapping[str, Property]:
        """Its properties."""
        if self.database:
            return self.database.columns
        return _TITLE

    @property
    def title(self) -> str:
        """Its title."""
        return next((str(self.values[name]) for name, one in self.columns.items() if one.kind == "title"), "")

    def all_blocks(self) -> Iterator[Block]:
        """Yield its blocks at every depth."""
        for block in self.blocks:
            yield from block.walk()


@dataclass(slots=True)
class Comment:
    """One comment of a discussion, which hangs on a page or on a block of it."""

    id: str
    discussion: str
    page: str
    block: str
    """Empty for a discussion of the page itself."""
    texts: list[Answer]
    created: tuple[str, str]
    resolved: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """Something that happened, as far as events tell it."""

    type: str
    entity: tuple[str, str]
    """Its id, and `page` or `comment`."""
    author: User
    at: str
    parent: Answer
    properties: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    page: str = ""


_TITLE = {"title": Property(id="title", name="title", kind="title", options={})}


FILE_SECONDS = 3600
"""How long the address of a file is good."""


@dataclass(slots=True)
class Workspace:
    """One workspace and the connection that may look into it."""

    id: str
    name: str
    bot: User
    clock: Callable[[], float]
    users: dict[str, User] = field(default_factory=dict[str, User])
    databases: dict[str, Database] = field(default_factory=dict[str, Database])
    pages: dict[str, Page] = field(default_factory=dict[str, Page])
    comments: dict[str, Comment] = field(default_factory=dict[str, Comment])
    tell: Callable[[Change], None] = lambda _: None
    origin: str = "https://prod-files-secure.s3.us-west-2.amazonaws.com"
    """Where the content of files stands."""
    _ids: Counter[str] = field(default_factory=Counter[str])
    _last: int = 0

    def address(self, block: Block) -> Answer:
        """Return the address of a file, which needs no token and is good for an hour."""
        name = block.file[0] if block.file else ""
        now = datetime.fromtimestamp(self.clock(), UTC)
        query = f"X-Amz-Date={now:%Y%m%dT%H%M%SZ}&X-Amz-Expires={FILE_SECONDS}"
        signature = self.signature(block.id, f"{now:%Y%m%dT%H%M%SZ}")
        path = f"{self.id}/{block.id}/{quote(name, safe='')}"
        url = f"{self.origin}/{path}?{query}&X-Amz-Signature={signature}"
        expires = now + timedelta(seconds=FILE_SECONDS)
        return {"url": url, "expiry_time": f"{expires:%Y-%m-%dT%H:%M:%S}.000Z"}

    def signature(self, block: str, date: str) -> str:
        """Return what an address of a file ends with that was made at this time."""
        return hashlib.sha256(f"{self.id}/{block}/{date}".encode()).hexdigest()

    def new_id(self, kind: str = "block") -> str:
        """Return a fresh id: the same ids in the same order in every simulation, each kind by itself."""
        self._ids[kind] += 1
        name = f"{self.id}/{kind}/{self._ids[kind]}"
        return str(UUID(bytes=hashlib.sha256(name.encode()).digest()[:16], version=4))

    def now(self) -> str:
        """Return the time as Notion writes it; no two moments are the same."""
        self._last = max(self._last + 1, round(self.clock() * 1000))
        moment = datetime.fromtimestamp(self._last // 1000, UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{self._last % 1000:03}Z"

    def user(self, id_: str) -> User:
        """Return a user by id. Raises NotionRefusal."""
        if id_ not in self.users:
            raise not_found("user", id_)
        return self.users[id_]

    def name_of(self, id_: str) -> str:
        """Return the name of a user. Raises NotionRefusal."""
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
        """Return a block and its page. Raises NotionRefusal."""
        for page in self.pages.values():
            for block in page.all_blocks() if page.shared else ():
                if block.id == id_:
                    return page, block
        raise not_found("block", id_)

    def parent(self, page: Page) -> Answer:
        """Return the parent of a page as events write it."""
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
        """Create a new page."""
        columns = database.columns if database else _TITLE
        whole = {name: values.get(name, empty(column.kind)) for name, column in columns.items()}
        stamp = (self.now(), by.id)
        page = Page(self.new_id("page"), database, whole, self.stamped(blocks, stamp), stamp, stamp, parent)
        self.pages[page.id] = page
        self._tell("page.created", page, by)
        return page

    def set_values(self, page: Page, values: Mapping[str, object], by: User) -> None:
        """Set properties; what has that value already is no change."""
        changed = {name: value for name, value in values.items() if page.values.get(name) != value}
        page.values.update(changed)
        if changed:
            ids = tuple(page.columns[name].id for name in changed)
            self._tell("page.properties_updated", page, by, properties=ids)

    def edited(self, page: Page, blocks: Sequence[Block], by: User) -> None:
        """Blocks of a page were added or changed."""
        self._tell("page.content_updated", page, by, blocks=tuple(block.id for block in blocks))

    def trash(self, page: Page, by: User, *, trashed: bool) -> None:
        """Put a page into the trash, or take it out."""
        if page.trashed != trashed:
            page.trashed = trashed
            self._tell("page.deleted" if trashed else "page.undeleted", page, by)

    def comment(self, page: Page, block: str, texts: list[Answer], by: User, discussion: str = "") -> Comment:
        """Create a new comment, in a discussion that goes on or in a new one."""
        made = Comment(
            id=self.new_id("comment"),
            discussion=discussion or self.new_id("discussion"),
            page=page.id,
            block=block,
            texts=texts,
            created=(self.now(), by.id),
        )
        self.comments[made.id] = made
        parent: Answer = {"id": block or page.id, "type": "block" if block else "page"}
        if page.shared:
            self.tell(Change("comment.created", (made.id, "comment"), by, made.created[0], parent, page=page.id))
        return made

    def stamped(self, blocks: Sequence[Block], stamp: tuple[str, str]) -> list[Block]:
        """Return blocks that carry when and by whom they were made."""
        for block in blocks:
            for one in block.walk():
                one.created = stamp
        return list(blocks)

    def _tell(
        self, kind: str, page: Page, by: User, properties: tuple[str, ...] = (), blocks: tuple[str, ...] = ()
    ) -> None:
        page.edited = (self.now(), by.id)
        if page.shared:
            parent = self.parent(page)
            self.tell(Change(kind, (page.id, "page"), by, page.edited[0], parent, properties, blocks, page.id))

    def state(self) -> dict[str, object]:
        """Return pages, their properties, content and comments in plain JSON, under ids; for comparing worlds."""
        return {page.id: self._page_state(page) for page in self.pages.values()}

    def _page_state(self, page: Page) -> dict[str, object]:
        comments = [one for one in self.comments.values() if one.page == page.id]
        return {
            "title": page.title,
            "database": page.database.name if page.database else None,
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
