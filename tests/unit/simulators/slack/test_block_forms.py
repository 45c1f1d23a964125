"""Blocks in the simulated Slack against the form of the Block Kit reference."""

import pytest

from gofer_simulators.json_values import object_of, texts
from support.vendors.slack_web_api import Slack, play

Block = dict[str, object]


def words(text: str, kind: str = "mrkdwn", **more: object) -> Block:
    return {"type": kind, "text": text, **more}


def section(**more: object) -> Block:
    return {"type": "section", **more}


def button(**more: object) -> Block:
    return {"type": "button", "text": words("Go", "plain_text"), "action_id": "go", **more}


def actions(*elements: Block, **more: object) -> Block:
    return {"type": "actions", "elements": list(elements), **more}


def context(*elements: Block) -> Block:
    return {"type": "context", "elements": list(elements)}


def image(**more: object) -> Block:
    return {"type": "image", "image_url": "https://example.com/a.png", "alt_text": "A chart", **more}


def rich(*elements: Block) -> Block:
    return {"type": "rich_text", "elements": list(elements)}


def line(*leaves: Block) -> Block:
    return {"type": "rich_text_section", "elements": list(leaves)}


GOOD: dict[str, list[Block]] = {
    "section": [section(text=words("x"), accessory=button(style="danger"), block_id="b" * 255)],
    "fields": [section(fields=[words("x" * 2_000), *[words("y")] * 9])],
    "header": [{"type": "header", "text": words("x" * 150, "plain_text", emoji=True)}],
    "images": [image(title=words("x", "plain_text")), context(image(), words("x", verbatim=True))],
    "buttons": [
        actions(button(), button(action_id="other", url="https://example.com"), block_id="a"),
        actions(button()),
    ],
    "rich text": [rich(line({"type": "text", "text": "x"}, {"type": "user", "user_id": "U1"}), line())],
    "list": [
        rich({"type": "rich_text_list", "style": "bullet", "elements": [line({"type": "emoji", "name": "eyes"})]})
    ],
    "others": [{"type": "divider"}, {"type": "video", "title": words("x", "plain_text")}],
}
BAD: dict[str, tuple[list[Block], str]] = {
    "text without type": ([section(text={"text": "x"})], "missing required field: type [json-pointer:/blocks/0/text]"),
    "text as a string": ([section(text="x")], "must provide an object [json-pointer:/blocks/0/text]"),
    "no text": ([section()], "missing required field: text or fields"),
    "11 fields": ([section(fields=[words("x")] * 11)], "no more than 10 items allowed [json-pointer:/blocks/0/fields]"),
    "long field": ([section(fields=[words("x" * 2_001)])], "must be less than 2001 characters"),
    "mrkdwn on a button": ([actions(button(text=words("Go")))], "unsupported type: mrkdwn"),
    "emoji in mrkdwn": ([section(text=words("x", emoji=True))], "invalid additional property: emoji"),
    "empty context text": ([context(words(""))], "must be more than 0 characters"),
    "empty context": ([context()], "no less than 1 items allowed"),
    "11 in a context": ([context(*[words("x")] * 11)], "no more than 10 items allowed"),
    "style": ([actions(button(style="loud"))], "must be one of: primary, danger"),
    "style of an accessory": ([section(text=words("x"), accessory=button(style="loud"))], "must be one of"),
    "26 buttons": ([actions(*[button(action_id=str(n)) for n in range(26)])], "no more than 25 items allowed"),
    "action_id twice": ([actions(button(), button())], "`action_id` 'go' already exists"),
    "block_id twice": ([actions(button(), block_id="a"), {"type": "divider", "block_id": "a"}], "`block_id` 'a'"),
    "long block_id": ([{"type": "divider", "block_id": "b" * 256}], "must be less than 256 characters"),
    "long action_id": ([actions(button(action_id="b" * 256))], "must be less than 256 characters"),
    "unknown key": ([{"type": "divider", "color": "red"}], "invalid additional property: color [json-"),
    "unknown key of a button": ([actions(button(disabled=True))], "invalid additional property: disabled"),
    "no alt_text": ([{"type": "image", "image_url": "https://example.com"}], "missing required field: alt_text"),
    "no image": ([context({"type": "image", "alt_text": "x"})], "missing required field: image_url or slack_file"),
    "mrkdwn header": ([{"type": "header", "text": words("x")}], "unsupported type: mrkdwn"),
    "empty rich text": ([rich()], "no less than 1 items allowed [json-pointer:/blocks/0/elements]"),
    "rich text of sections": ([rich(section(text=words("x")))], "unsupported type of a rich text element"),
    "empty leaf": ([rich(line({"type": "text", "text": ""}))], "must be more than 0 characters"),
    "unknown leaf": ([rich(line({"type": "poem"}))], "unsupported type: poem"),
}  # fmt: skip


@pytest.mark.parametrize("name", GOOD)
def test_simulated_slack_accepts_blocks_of_the_documented_form(name: str) -> None:
    async def story(slack: Slack) -> None:
        answer = await slack.call("chat.postMessage", channel="C1", text="x", blocks=GOOD[name])
        assert answer["ok"] is True, answer

    play(story)


@pytest.mark.parametrize("name", BAD)
def test_simulated_slack_refuses_malformed_blocks_with_the_json_pointer(name: str) -> None:
    blocks, expected = BAD[name]

    async def story(slack: Slack) -> None:
        answer = await slack.call("chat.postMessage", channel="C1", text="x", blocks=blocks)
        assert answer["error"] == "invalid_blocks"
        (message,) = texts(object_of(answer, "response_metadata")["messages"])
        assert message.startswith("[ERROR] ")
        assert expected in message

    play(story)
