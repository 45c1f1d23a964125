"""The addresses that each system would make live in a text: each reads Markdown in its own way.

These readings share no code with the gate. They take more for live than the systems do: all of GitHub's automatic
links, as it finds them in the source and in the parsed text, and Slack's bare hosts.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from markdown_it import MarkdownIt

from gofer.sources.jira.adf import document
from gofer.sources.notion.markdown import blocks, comment_spans
from gofer.sources.notion.rich_text import rich_text
from gofer.sources.slack.parts import compose
from gofer.tools.definition import Provenance
from gofer.values.errors import ToolError

NOWHERE = Provenance("w", "", "run1", None)
_AUTOMATIC = re.compile(
    r"(?:https?|wss?|ftp|smb|ldap|file|javascript|data|mailto|xmpp):[^ \t\r\n\f\v<]+", re.IGNORECASE
)
_OTHER = re.compile(
    r"(?:(?<![\w@./])|(?<=//))www\.[^ \t\r\n\f\v<]+|[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|[\w.-]+/[\w.-]+(?:#\d+|@[0-9a-f]{7,40})\b"
)
_BARE = re.compile(r"(?<![\w./@:-])[\w-]+(?:\.[\w-]+)*\.(?:com|example|net|org|io)\b[^ \t\r\n\f\v<]*", re.IGNORECASE)
_IN_HTML = re.compile(r"(?:href|src|srcset|action|data|poster)\s*=\s*[\"']?([^\"'\s>]+)", re.IGNORECASE)
_FENCE = re.compile(
    r"^( {0,3}(?:> ?|[-*+] |\d+\. )*)(`{3,}|~{3,})[^\n`]*\n.*?(?:^[ >]*\2[`~]* *$|\Z)", re.DOTALL | re.MULTILINE
)
_CODE = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def _without_code(text: str) -> str:
    return _CODE.sub(" ", _FENCE.sub("\n", text))


def _automatic(text: str, *, bare: bool) -> Iterator[str]:
    """Yield what a system links by itself, without the punctuation at its end."""
    for pattern in (_AUTOMATIC, _OTHER, _BARE)[: 3 if bare else 2]:
        for found in pattern.finditer(text):
            address = found[0].rstrip("?!.,:*_~'\";)]}")
            while address.count(")") < address.count("(") and found[0][len(address) :].startswith(")"):
                address += ")"
            if address.lower() not in ("http", "https", "data", "file", "javascript", "mailto", "xmpp", "ws", "wss"):
                yield address


def _in_tokens(markdown: str, *, bare: bool) -> Iterator[str]:
    parser = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
    for block in parser.parse(markdown):
        if block.type == "fence" and block.info.split()[:1] == ["mermaid"]:
            yield from _automatic(block.content, bare=bare)
        if block.type == "html_block":
            yield from _IN_HTML.findall(block.content)
        linked = 0
        for token in block.children or ():
            match token.type:
                case "link_open":
                    yield str(token.attrs["href"])
                    linked += 1
                case "link_close":
                    linked -= 1
                case "image":
                    yield str(token.attrs["src"])
                case "html_inline":
                    yield from _IN_HTML.findall(token.content)
                case "text" if not linked:
                    yield from _automatic(token.content, bare=bare)
                case _:
                    pass


def _in_source(markdown: str, *, bare: bool) -> Iterator[str]:
    """Yield the automatic links of a parser that looks for them before it reads any mark."""
    source = re.sub(r"\]\((?:[^()\\\s]|\\.)*\)|<[a-z]+:[^<>\s]*>", " ", _without_code(markdown))
    yield from (_ESCAPED.sub(r"\1", address) for address in _automatic(source, bare=bare))


def github(markdown: str) -> set[str]:
    """Return what GitHub would link: HTML, links, pictures, and addresses that it finds by itself."""
    return {*_in_tokens(markdown, bare=False), *_in_source(markdown, bare=False)}


def slack(markdown: str) -> set[str]:
    """Return what Slack would link in the messages of an answer: also its own `<url|words>` and bare hosts."""
    live: set[str] = set()
    for message in compose(markdown).messages:
        live |= {*_in_tokens(message, bare=True), *_in_source(message, bare=True)}
        live |= set(re.findall(r"<((?:https?|mailto):[^<>|\s]+)\|", _without_code(message)))
    return live


def jira(markdown: str) -> set[str]:
    """Return what Jira would link: the links of the document, and addresses in text that is no code."""
    try:
        return set(_in_jira(document(markdown, NOWHERE)))
    except ToolError:
        # A text without words is not sent.
        return set()


def _in_jira(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for inner in node:
            yield from _in_jira(inner)
    elif isinstance(node, dict):
        marks = {mark["type"]: mark for mark in node.get("marks", ())}
        if "link" in marks:
            yield marks["link"]["attrs"]["href"]
        elif node.get("type") == "text" and "code" not in marks:
            yield from _automatic(node["text"], bare=False)
        if node.get("type") != "codeBlock":
            yield from _in_jira(node.get("content", []))


def notion(markdown: str) -> set[str]:
    """Return what Notion would link: the links of blocks and of a comment, and addresses in text that is no code."""
    return {*_in_notion(blocks(markdown)), *_in_notion(rich_text(comment_spans(markdown)))}


def _in_notion(node: Any) -> Iterator[str]:
    if isinstance(node, list):
        for inner in node:
            yield from _in_notion(inner)
    elif isinstance(node, dict) and node.get("type") == "text":
        if link := node["text"].get("link"):
            yield link["url"]
        elif not node.get("annotations", {}).get("code"):
            yield from _automatic(node["text"]["content"], bare=False)
    elif isinstance(node, dict) and node.get("type") != "code":
        for inner in node.values():
            yield from _in_notion(inner)


LIVE_LINKS: Mapping[str, Callable[[str], set[str]]] = {"slack": slack, "github": github, "jira": jira, "notion": notion}
"""The reading of each system."""
