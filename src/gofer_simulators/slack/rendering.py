"""The text of a message as escaped HTML.

There are two dialects: Slack's mrkdwn in `text`, sections and contexts, and Markdown in markdown blocks.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import groupby

from gofer_simulators.json_values import JsonObject, is_array, object_of, objects, text_of
from gofer_simulators.local_links import LocalLinks
from gofer_simulators.slack.markdown import MarkdownHtml
from gofer_simulators.slack.shapes import block_text, unescaped
from gofer_simulators.slack.workspace import Message, Workspace

_EMOJI = {
    "+1": "👍", "-1": "👎", "bug": "🐛", "eyes": "👀", "fire": "🔥", "heart": "❤️", "hourglass": "⌛",
    "jira": "🎫",
    "merged": "🔀", "no_entry": "⛔", "octagonal_sign": "🛑", "ok_hand": "👌", "pray": "🙏", "raised_hands": "🙌",
    "rocket": "🚀",
    "rotating_light": "🚨", "tada": "🎉", "thinking_face": "🤔", "warning": "⚠️", "wave": "👋",
    "white_check_mark": "✅", "x": "❌",
}  # fmt: skip
_SHARED = r"`(?P<code>[^`\n]+)`|<(?P<entity>[^<>\n]+)>|:(?P<emoji>[a-z0-9_+-]+):|(?P<url>https?://[^\s<>|)\]]+)"
_MRKDWN = re.compile(
    rf"{_SHARED}|(?<!\w)\*(?P<bold>[^*\n]+)\*(?!\w)|(?<!\w)_(?P<italic>[^_\n]+)_(?!\w)"
    r"|(?<!\w)~(?P<strike>[^~\n]+)~(?!\w)"
)
_WORDS = re.compile(_SHARED)
_TAGS = {"bold": "b", "italic": "i", "strike": "s"}
_STATES = {"pending": "○", "in_progress": "◐", "complete": "✓", "error": "✗"}
"""The sign of each state of a task."""
_FENCE = re.compile(r"```(?:[\w+-]*\n)?(.*?)(?:```|\Z)", re.DOTALL)
_LINES = (
    ("bullet", re.compile(r"\s*[-*•]\s+(.*)$")),
    ("number", re.compile(r"\s*\d{1,3}[.)]\s+(.*)$")),
    ("quote", re.compile(r"\s*(?:>|&gt;)\s?(.*)$")),
    ("blank", re.compile(r"\s*()$")),
)


def emoji(name: str) -> str:
    """Return the character of an emoji, or the name between colons if the character is unknown."""
    return _EMOJI.get(name.partition("::")[0], f":{name}:")


def hidden(fields: Mapping[str, str]) -> str:
    """Return hidden inputs of a form, one for each field."""
    return "".join(f'<input type="hidden" name="{key}" value="{escape(value)}">' for key, value in fields.items())


class Renderer:
    """A writer of messages as HTML, with the names of people, channels and groups for their ids."""

    def __init__(self, workspace: Workspace, links: LocalLinks) -> None:
        self._workspace = workspace
        self._links = links
        domain = re.escape(workspace.team.domain)
        self._permalink = re.compile(
            rf"https://{domain}\.slack\.com/archives/(\w+)/p(\d{{10}})(\d{{6}})(?:\?thread_ts=([\d.]+).*)?"
        )

    def message(self, message: Message) -> str:
        """Return the body of a message: its blocks or else its text, then its files."""
        files = "".join(self._file(file) for file in objects(message.extra.get("files")))
        if message.blocks:
            return "".join(self.block(block, message) for block in message.blocks) + files
        if message.text:
            return self.mrkdwn(message.text) + files
        return files

    def _file(self, file: JsonObject) -> str:
        name = text_of(file, "name")
        stored = self._workspace.files.get(text_of(file, "id"))
        text = ""
        if stored and stored.content:
            text = stored.content.decode("utf-8", "replace")
        title = f"<summary>📄 {escape(name)} <small>{len(text.encode()):,} bytes</small></summary>"
        return f'<details class="file">{title}<pre>{escape(text)}</pre></details>'

    def block(self, block: JsonObject, message: Message) -> str:
        """Return one block; an unknown block becomes its type and its text."""
        match text_of(block, "type"):
            case "markdown":
                return self.markdown(text_of(block, "text"))
            case "section":
                parts = [object_of(block, "text"), *objects(block.get("fields"))]
                words = "".join(self.mrkdwn(text_of(part, "text")) for part in parts)
                return words + self._pressable([object_of(block, "accessory")], message)
            case "context":
                elements = [self._inline(text_of(part, "text")) for part in objects(block.get("elements"))]
                return f'<p class="context">{" ".join(elements)}</p>'
            case "header":
                return f"<h4>{escape(text_of(object_of(block, 'text'), 'text'))}</h4>"
            case "divider":
                return "<hr>"
            case "actions" | "context_actions":
                return self._pressable(objects(block.get("elements")), message)
            case "plan":
                cards = "".join(self.block(task, message) for task in objects(block.get("tasks")))
                return f'<div class="plan"><b>{escape(text_of(block, "title"))}</b>{cards}</div>'
            case "task_card":
                return self._task(block, message)
            case "container":
                return self._container(block, message)
            case "alert":
                level = escape(text_of(block, "level") or "default")
                return f'<div class="alert {level}">{self.mrkdwn(text_of(object_of(block, "text"), "text"))}</div>'
            case "card":
                parts = [object_of(block, name) for name in ("title", "subtitle", "body")]
                words = "".join(self.mrkdwn(text_of(part, "text")) for part in parts)
                return f'<div class="card">{words}{self._pressable(objects(block.get("actions")), message)}</div>'
            case "carousel":
                return "".join(self.block(card, message) for card in objects(block.get("elements")))
            case "table" | "data_table":
                return self._table(block, message)
            case "rich_text":
                return "".join(map(self._rich, objects(block.get("elements"))))
            case kind:
                return f'<p class="context">[{escape(kind)}] {escape(block_text(block))}</p>'

    def mrkdwn(self, text: str) -> str:
        """Return the HTML of a text in mrkdwn, Slack's own dialect."""
        pieces: list[str] = []
        for position, piece in enumerate(_FENCE.split(text)):
            fenced = position % 2 == 1
            if fenced:
                pieces.append(f"<pre>{escape(unescaped(piece.rstrip()))}</pre>")
            else:
                pieces.append(self._flow(piece))
        return "".join(pieces)

    def markdown(self, text: str) -> str:
        """Return the HTML of a text in standard Markdown."""
        return MarkdownHtml(self._plain_text, self._anchor).document(text)

    def _pressable(self, elements: Sequence[JsonObject], message: Message) -> str:
        """Return the buttons of a block, and below them its feedback buttons."""
        buttons = [
            f'<button class="button" name="action_id" value="{escape(text_of(element, "action_id"))}">'
            f"{escape(text_of(object_of(element, 'text'), 'text'))}</button>"
            for element in elements
            if text_of(element, "type") in ("button", "icon_button")
        ]
        votes = [element for element in elements if element.get("type") == "feedback_buttons"]
        forms = [self._form(message, "".join(buttons))] if buttons else []
        return "".join([*forms, *(self._votes(element, message) for element in votes)])

    def _votes(self, element: JsonObject, message: Message) -> str:
        votes = "".join(
            f'<button class="button" name="value" value="{escape(text_of(vote, "value"))}">'
            f"{sign} {escape(text_of(object_of(vote, 'text'), 'text'))}</button>"
            for sign, vote in (
                ("👍", object_of(element, "positive_button")),
                ("👎", object_of(element, "negative_button")),
            )
        )
        return self._form(message, votes, action_id=text_of(element, "action_id"))

    def _form(self, message: Message, buttons: str, **more: str) -> str:
        user = message.only_for or _first_person(self._workspace)
        fields = {"user": user, "channel": message.channel, "ts": message.ts, **more}
        if message.thread_ts:
            fields["thread_ts"] = message.thread_ts
        # The blocks of a Home tab are in no posted message.
        action = "/press" if message.ts else "/press-home"
        return f'<form class="actions" method="post" action="{action}">{hidden(fields)}{buttons}</form>'

    def _task(self, task: JsonObject, message: Message) -> str:
        status = text_of(task, "status")
        title = f'<span class="state">{_STATES.get(status, "")}</span> {escape(text_of(task, "title"))}'
        inside = "".join(self.block(object_of(task, name), message) for name in ("details", "output") if name in task)
        links = [self._link(text_of(source, "url"), text_of(source, "text")) for source in objects(task.get("sources"))]
        if links:
            inside += f'<p class="context">{" · ".join(links)}</p>'
        if not inside:
            return f'<div class="card task {escape(status)}">{title}</div>'
        return f'<details class="card task {escape(status)}"><summary>{title}</summary>{inside}</details>'

    def _container(self, block: JsonObject, message: Message) -> str:
        title = f"<b>{escape(text_of(object_of(block, 'title'), 'text'))}</b>"
        if "rich_text_title" in block:
            title = self.block(object_of(block, "rich_text_title"), message)
        subtitle = f" <small>{escape(text_of(object_of(block, 'subtitle'), 'text'))}</small>"
        inside = "".join(self.block(child, message) for child in objects(block.get("child_blocks")))
        if block.get("is_collapsible") is not True:
            return f'<div class="card">{title}{subtitle}{inside}</div>'
        opened = "" if block.get("default_collapsed") is True else " open"
        return f'<details class="card"{opened}><summary>{title}{subtitle}</summary>{inside}</details>'

    def _table(self, block: JsonObject, message: Message) -> str:
        rows = block.get("rows")
        lines: list[str] = []
        for number, row in enumerate(rows if is_array(rows) else []):
            tag = "td" if number else "th"
            cells = (
                self.block(cell, message) if cell.get("type") == "rich_text" else escape(text_of(cell, "text"))
                for cell in objects(row)
            )
            lines.append(f"<tr>{''.join(f'<{tag}>{cell}</{tag}>' for cell in cells)}</tr>")
        return f"<table>{''.join(lines)}</table>"

    def _rich(self, element: JsonObject) -> str:
        """Return the HTML of a rich text element; its texts are plain and contain no markup."""
        words = "".join(map(self._leaf, objects(element.get("elements"))))
        if element.get("type") == "rich_text_preformatted":
            return f"<pre>{words}</pre>"
        return f"<p>{words}</p>"

    def _leaf(self, leaf: JsonObject) -> str:
        match text_of(leaf, "type"):
            case "user":
                return f'<span class="mention">@{escape(self._workspace.name_of(text_of(leaf, "user_id")))}</span>'
            case "usergroup":
                handle = "unknown-group"
                if group := self._workspace.groups.get(text_of(leaf, "usergroup_id")):
                    handle = group.handle
                return f'<span class="mention">@{escape(handle)}</span>'
            case _:
                words = escape(text_of(leaf, "text"))
                if object_of(leaf, "style").get("bold") is True:
                    return f"<b>{words}</b>"
                return words

    def _flow(self, text: str) -> str:
        lines = [_classified(line) for line in text.strip("\n").split("\n")]
        groups = groupby(lines, key=lambda line: line[0])
        return "".join(self._group(kind, [line for _, line in group]) for kind, group in groups)

    def _group(self, kind: str, lines: Sequence[str]) -> str:
        inline = [self._inline(line) for line in lines]
        match kind:
            case "blank":
                return ""
            case "bullet":
                return f"<ul>{_items(inline)}</ul>"
            case "number":
                return f"<ol>{_items(inline)}</ol>"
            case "quote":
                return f"<blockquote>{'<br>'.join(inline)}</blockquote>"
            case _:
                return f"<p>{'<br>'.join(inline)}</p>"

    def _inline(self, text: str) -> str:
        return self._tokens(text, _MRKDWN, lambda words: escape(unescaped(words)))

    def _plain_text(self, text: str) -> str:
        """Return the HTML of a plain text in Markdown, with Slack's own entities, emoji and addresses."""
        return self._tokens(text, _WORDS, escape)

    def _tokens(self, text: str, dialect: re.Pattern[str], plain: Callable[[str], str]) -> str:
        pieces: list[str] = []
        end = 0
        for found in dialect.finditer(text):
            pieces += [plain(text[end : found.start()]), self._token(found)]
            end = found.end()
        return "".join(pieces) + plain(text[end:])

    def _token(self, found: re.Match[str]) -> str:
        kind = found.lastgroup or ""
        inner = found[kind]
        match kind:
            case "code":
                return f"<code>{escape(unescaped(inner))}</code>"
            case "entity":
                return self._entity(inner)
            case "emoji":
                return escape(emoji(inner))
            case "url":
                return self._link(inner, inner)
            case _:
                tag = _TAGS[kind]
                return f"<{tag}>{self._inline(inner)}</{tag}>"

    def _entity(self, inner: str) -> str:
        target, _, label = inner.partition("|")
        if target.startswith("@"):
            name = self._workspace.name_of(target[1:])
            css_class = "mention"
            if target[1:] == self._workspace.bot.user:
                css_class = "mention own"
            return f'<span class="{css_class}">@{escape(name)}</span>'
        if target.startswith("#"):
            name = label or target[1:]
            if channel := self._workspace.channels.get(target[1:]):
                name = channel.name
            return f'<span class="mention">#{escape(name)}</span>'
        if target.startswith("!"):
            word = label or "@" + target[1:].partition("^")[0]
            return f'<span class="mention">{escape(unescaped(word))}</span>'
        if re.match(r"https?://|mailto:", target):
            return self._link(target, label or target.removeprefix("mailto:"))
        return escape(f"<{unescaped(inner)}>")

    def _link(self, address: str, label: str) -> str:
        opening = self._anchor(unescaped(address))
        text = escape(unescaped(label))
        if opening:
            return f"{opening}{text}</a>"
        return text

    def _anchor(self, address: str) -> str:
        """Return the opening tag of a link; empty for an address that is neither http(s) nor mailto."""
        if not re.match(r"https?://|mailto:", address):
            return ""
        stored = self._permalink.fullmatch(address)
        if stored:
            ts = f"{stored[2]}.{stored[3]}"
            return f'<a href="/?channel={stored[1]}&amp;thread={stored[4] or ts}#m{ts}">'
        return f'<a href="{escape(self._links.opened(address))}" rel="noreferrer noopener" target="_blank">'


def _first_person(workspace: Workspace) -> str:
    return next((user.id for user in workspace.users.values() if not user.bot), "")


def _classified(line: str) -> tuple[str, str]:
    for kind, pattern in _LINES:
        if found := pattern.match(line):
            return kind, found[1]
    return "text", line


def _items(lines: Iterable[str]) -> str:
    return "".join(f"<li>{line}</li>" for line in lines)
