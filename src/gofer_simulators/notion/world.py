"""The Notion workspace that a world file describes under its key `notion`."""

from collections.abc import Callable, Mapping, Sequence
from uuid import UUID

import gofer_simulators.notion.rich_text as rich_text
from gofer_simulators.json_values import objects
from gofer_simulators.notion.blocks import Block, from_markdown, to_markdown
from gofer_simulators.notion.properties import KINDS, Property, empty
from gofer_simulators.notion.workspace import Comment, Database, Page, User, Workspace
from gofer_simulators.world_file import Place

CAPABILITIES = frozenset(
    {"read_content", "insert_content", "update_content", "read_comments", "insert_comments", "read_user_information"}
)
"""The capabilities that a connection can have."""

_TOP = {"workspace", "connection", "users", "databases", "pages"}
_PAGE = {"id", "title", "properties", "blocks", "markdown", "comments", "shared", "created_by"}
_FILES = ("file", "image", "pdf", "audio", "video")
_WITH_OPTIONS = ("select", "status", "multi_select")


def load_world(world: Mapping[str, object], clock: Callable[[], float]) -> tuple[Workspace, frozenset[str]]:
    """Return the workspace of a world and the capabilities of its connection. Raises ConfigError."""
    top = Place("notion", world).mapping(_TOP)
    space = top.at("workspace").mapping({"id", "name"})
    connection = top.at("connection").mapping({"id", "name", "capabilities"})
    bot = User(_id(connection), connection.text("name"), bot=True)
    workspace = Workspace(_id(space), space.text("name"), bot, clock)
    workspace.users[bot.id] = bot
    for place in top.items("users"):
        _user(workspace, place.mapping({"id", "name", "email", "bot", "guest"}))
    for place in top.items("databases"):
        _database(workspace, place.mapping({"id", "data_source", "name", "properties", "pages", "shared"}))
    for place in top.items("pages"):
        _page(workspace, place.mapping(_PAGE | {"parent"}), None)
    given = connection.at("capabilities")
    allowed = CAPABILITIES
    if given.value is not None:
        allowed = frozenset(given.strings())
    if unknown := allowed - CAPABILITIES:
        known = ", ".join(sorted(CAPABILITIES))
        raise given.wrong(f"has the unknown capability {min(unknown)!r}; known capabilities are {known}")
    return workspace, allowed


def _user(workspace: Workspace, place: Place) -> None:
    user = User(_id(place), place.text("name"), place.flag("bot"), place.text("email", ""), place.flag("guest"))
    if user.id in workspace.users:
        raise place.wrong(f"has the id {user.id}, which another user has already")
    workspace.users[user.id] = user


def _database(workspace: Workspace, place: Place) -> None:
    columns = {name: _column(workspace, name, one) for name, one in place.fields("properties")}
    if [column.kind for column in columns.values()].count("title") != 1:
        raise place.at("properties").wrong("must have exactly one property of the kind title")
    source = _id(place, "data_source") if place.has("data_source") else workspace.new_id("source")
    shared = place.flag("shared", default=True)
    database = Database(id=_id(place), source=source, name=place.text("name"), columns=columns, shared=shared)
    workspace.databases[database.id] = database
    for page in place.items("pages"):
        _page(workspace, page.mapping(_PAGE), database)


def _column(workspace: Workspace, name: str, place: Place) -> Property:
    """Return a property of a line such as `Status: {type: status, options: [Draft, Done]}` or `Notes: rich_text`."""
    if isinstance(place.value, str):
        kind = place.value
    else:
        kind = place.mapping({"id", "type", "options"}).text("type")
    if kind not in KINDS:
        raise place.wrong(f"has the unknown kind {kind!r}; known kinds are {', '.join(KINDS)}")
    names: list[str] = []
    if place.has("options"):
        names = place.at("options").strings()
    if names and kind not in _WITH_OPTIONS:
        raise place.wrong(f"is a {kind}, which has no options")
    # Notion shows the ids of properties with URL encoding, so the simulator makes ids that need it.
    short = f"{workspace.new_id('property')[:3]}%3A"
    id_ = place.text("id", short)
    if kind == "title":
        id_ = "title"
    return Property(
        id=id_,
        name=name,
        kind=kind,
        options={one: workspace.new_id("option") for one in names},
    )


def _page(workspace: Workspace, place: Place, database: Database | None) -> None:
    by = workspace.bot.id
    if place.has("created_by"):
        by = _person(workspace, place.at("created_by"))
    stamp = (workspace.now(), by)
    columns: Mapping[str, Property] = {"title": Property(id="title", name="title", kind="title", options={})}
    if database:
        columns = database.columns
    values = {name: empty(column.kind) for name, column in columns.items()}
    values[next(name for name, one in columns.items() if one.kind == "title")] = place.text("title")
    for name, one in place.fields("properties"):
        if name not in columns or columns[name].kind == "title":
            raise one.wrong(f"is not a property of this database, which has {', '.join(columns)}")
        values[name] = _value(workspace, columns[name], one)
    blocks = workspace.stamped(_blocks(workspace, place), stamp)
    parent = ""
    if place.has("parent"):
        parent = _id(place, "parent")
    page = Page(_id(place), database, values, blocks, stamp, stamp, parent, place.flag("shared", default=True))
    if page.id in workspace.pages:
        raise place.wrong(f"has the id {page.id}, which another page has already")
    workspace.pages[page.id] = page
    for comment in place.items("comments"):
        _comment(workspace, comment.mapping({"user", "text", "block", "resolved", "replies"}), page)


def _value(workspace: Workspace, column: Property, place: Place) -> object:
    value = place.value
    if column.kind == "people":
        return [_person(workspace, one) for one in place.each()]
    if column.kind == "files":
        # Files that Notion stores have a text here, and files elsewhere an address.
        return [{**one, "id": workspace.new_id()} if "text" in one else one for one in objects(value)]
    names: Sequence[object] = ()
    if column.kind == "multi_select":
        names = place.strings()
    elif column.kind in _WITH_OPTIONS:
        names = (value,)
    if unknown := [name for name in names if name is not None and name not in column.options]:
        raise place.wrong(f"has the unknown option {unknown[0]!r}; {column.name} has {', '.join(column.options)}")
    return value


def _blocks(workspace: Workspace, place: Place) -> list[Block]:
    """Return the content of a page, from Markdown or from a list of blocks.

    A block is `{id, markdown}`, `{id, file}`, or as Notion shows it `{id, type, content, blocks}`.
    """
    if place.has("markdown"):
        return from_markdown(place.text("markdown").strip("\n"), workspace.new_id)
    blocks: list[Block] = []
    for one in place.items("blocks"):
        one.mapping({"id", "markdown", "file", "type", "content", "blocks"})
        if one.has("file"):
            blocks.append(_file(workspace, one, one.at("file").mapping({"kind", "name", "text"})))
            continue
        if one.has("type"):
            id_ = _id(one) if one.has("id") else workspace.new_id()
            content = {name: field.value for name, field in one.fields("content")}
            below = _blocks(workspace, one) if one.has("blocks") else []
            blocks.append(Block(id_, one.text("type"), fields=content, children=below))
            continue
        found = from_markdown(one.text("markdown").strip("\n"), workspace.new_id)
        if len(found) != 1:
            raise one.wrong("must be one block of Markdown")
        if one.has("id"):
            found[0].id = _id(one)
        blocks += found
    return blocks


def _file(workspace: Workspace, place: Place, file: Place) -> Block:
    kind = file.text("kind", "file")
    if kind not in _FILES:
        raise file.wrong(f"has the unknown kind {kind!r}; known kinds are {', '.join(_FILES)}")
    id_ = _id(place) if place.has("id") else workspace.new_id()
    return Block(id_, kind, file=(file.text("name"), file.text("text").encode()))


def _comment(workspace: Workspace, place: Place, page: Page) -> None:
    block = place.text("block", "")
    known = {one.id: one.id for one in page.all_blocks()} | {to_markdown([one]): one.id for one in page.all_blocks()}
    if block and block not in known:
        raise place.wrong("names a block that its page does not have; write its id or its whole Markdown")
    discussion = workspace.new_id("discussion")
    for one in (place, *(reply.mapping({"user", "text"}) for reply in place.items("replies"))):
        texts = rich_text.from_markdown(one.text("text"))
        stamp = (workspace.now(), _person(workspace, one.at("user")))
        resolved = place.flag("resolved")
        comment = Comment(
            id=workspace.new_id("comment"),
            discussion=discussion,
            page=page.id,
            block=known.get(block, ""),
            texts=texts,
            created=stamp,
            resolved=resolved,
        )
        workspace.comments[comment.id] = comment


def _person(workspace: Workspace, place: Place) -> str:
    """Return the id of a user given by id or name. Raises ConfigError."""
    found = [user.id for user in workspace.users.values() if place.value in (user.id, user.name)]
    if len(found) != 1:
        raise place.wrong(f"names {place.value!r}, which is the id or the name of {len(found)} users; it must be one")
    return found[0]


def _id(place: Place, key: str = "id") -> str:
    """Return the UUID under a key. Raises ConfigError."""
    try:
        return str(UUID(place.text(key)))
    except ValueError:
        raise place.at(key).wrong("must be a UUID, 32 hexadecimal digits with or without dashes") from None
