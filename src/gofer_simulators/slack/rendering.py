"""The text of a message as escaped HTML.

There are two dialects: Slack's mrkdwn in `text`, sections and contexts, and Markdown in markdown blocks.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from itertools import groupby

from gofer_simulators.json_values import JsonObject, object_of, objects, text_of
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
                return "".join(self.mrkdwn(text_of(part, "text")) for part in parts)
            case "context":
                elements = [self._inline(text_of(part, "text")) for part in objects(block.get("elements"))]
                return f'<p class="context">{" ".join(elements)}</p>'
            case "header":
                return f"<h4>{escape(text_of(object_of(block, 'text'), 'text'))}</h4>"
            case "divider":
                return "<hr>"
            case "actions":
                return self._buttons(objects(block.get("elements")), message)
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

    def _buttons(self, elements: Sequence[JsonObject], message: Message) -> str:
        user = message.only_for or _first_person(self._workspace)
        fields = {"user": user, "channel": message.channel, "ts": message.ts}
        if message.thread_ts:
            fields["thread_ts"] = message.thread_ts
        buttons = "".join(
            f'<button class="button" name="action_id" value="{escape(text_of(element, "action_id"))}">'
            f"{escape(text_of(object_of(element, 'text'), 'text'))}</button>"
            for element in elements
        )
        return f'<form class="actions" method="post" action="/press">{hidden(fields)}{buttons}</form>'

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
