"""Blocks in the simulated Slack against the form of the Block Kit reference."""

from typing import cast

import pytest
from slack_sdk.models.blocks import Block as SdkBlock

from gofer_simulators.json_values import object_of, text_of, texts
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


def said(text: str = "x") -> Block:
    return rich(line({"type": "text", "text": text}))


def task(task_id: str = "t1", **more: object) -> Block:
    return {"type": "task_card", "task_id": task_id, "title": "Reading #deploys", "status": "in_progress", **more}


def plan(*tasks: Block, **more: object) -> Block:
    return {"type": "plan", "title": "Looking", "tasks": list(tasks), **more}


def vote(**more: object) -> Block:
    return {"text": words("Good", "plain_text"), "value": "up", **more}


def feedback(**more: object) -> Block:
    buttons = {"positive_button": vote(), "negative_button": vote(value="down"), **more}
    return {"type": "feedback_buttons", "action_id": "vote", **buttons}


def context_actions(*elements: Block) -> Block:
    return {"type": "context_actions", "elements": list(elements)}


def container(*children: Block, **more: object) -> Block:
    return {"type": "container", "title": words("x", "plain_text"), "child_blocks": list(children), **more}


def cells(*rows: str | list[str]) -> list[list[Block]]:
    return [[{"type": "raw_text", "text": cell} for cell in row] for row in rows]


def data_table(*rows: str | list[str], **more: object) -> Block:
    return {"type": "data_table", "caption": "x", "rows": cells(*rows), **more}


def table(*rows: str, **more: object) -> Block:
    return {"type": "table", "rows": cells(*rows), **more}


def chart(**more: object) -> Block:
    points = [{"label": "Mon", "value": 3}]
    bars = {"type": "bar", "series": [{"name": "a", "data": points}], "axis_config": {"categories": ["Mon"]}, **more}
    return {"type": "data_visualization", "title": "Deploys", "chart": bars}


def card(**more: object) -> Block:
    return {"type": "card", "title": words("PAY-1"), **more}


def options(count: int) -> list[Block]:
    return [{"text": words(str(number), "plain_text"), "value": str(number)} for number in range(count)]


def menu(kind: str = "static_select", **more: object) -> Block:
    return {"type": kind, "action_id": "menu", **more}


def question(element: Block) -> Block:
    return {"type": "input", "label": words("Why?", "plain_text"), "element": element}


def video(**more: object) -> Block:
    place = {"video_url": "https://example.com/v", "thumbnail_url": "https://example.com/t"}
    return {"type": "video", "title": words("x", "plain_text"), "alt_text": "x", **place, **more}


SOURCE: Block = {"type": "url", "url": "https://example.com", "text": "x"}
PROVIDER: Block = {
    "type": "auth_provider", "value": "jira", "name": words("Jira", "plain_text"), "is_connected": False,
}  # fmt: skip
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
    "others": [{"type": "divider"}, video(), PROVIDER, {"type": "markdown", "text": "x"}],
    "plan": [
        plan(task("t1", details=said(), sources=[{"type": "url", "url": "https://a.b", "text": "x"}]), task("t2"))
    ],
    "task cards": [task("t1", status="pending"), task("t2", output=said())],
    "feedback": [context_actions(feedback(), menu("icon_button", icon="trash", text=words("x", "plain_text")))],
    "container": [container(section(text=words("x")), is_collapsible=True, default_collapsed=True)],
    "data table": [data_table("ab", *["cd"] * 200)],
    "table": [table(*["ab"] * 100, column_settings=[{"align": "right"}])],
    "charts": [chart(), chart(type="line")],
    "pie": [{**chart(), "chart": {"type": "pie", "segments": [{"label": "x", "value": 1}]}}],
    "cards": [card(actions=[button()]), {"type": "carousel", "elements": [card()] * 10}],
    "alert": [{"type": "alert", "text": words("x"), "level": "error"}],
    "menus": [
        actions(menu(options=options(100)), menu("overflow", action_id="more", options=options(5))),
        section(text=words("x"), accessory=menu("multi_users_select", max_selected_items=2)),
        question(menu("plain_text_input", multiline=True, max_length=3_000)),
    ],
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
    "plan titled with an object": ([plan(title=words("x"))], "must provide a string [json-pointer:/blocks/0/title]"),
    "51 tasks": ([plan(*[task(str(number)) for number in range(51)])], "no more than 50 items allowed"),
    "task twice": ([plan(task(), task())], "`task_id` 't1' already exists"),
    "task completed": ([task(status="completed")], "must be one of: pending, in_progress, complete, error"),
    "task without status": ([{"type": "task_card", "task_id": "a", "title": "b"}], "missing required field: status"),
    "details as text": ([task(details="x")], "must provide an object [json-pointer:/blocks/0/details]"),
    "plan and task card": ([plan(task()), task("t2")], "a message has a plan or task cards, not both"),
    "button among feedback": ([context_actions(button())], "unsupported type: button"),
    "six of context actions": ([context_actions(*[feedback(action_id=str(n)) for n in range(6)])], "no more than 5"),
    "one vote": ([context_actions({"type": "feedback_buttons", "positive_button": vote()})], "negative_button"),
    "long label": ([context_actions(feedback(positive_button=vote(accessibility_label="x" * 76)))], "less than 76"),
    "feedback in actions": ([actions(feedback())], "unsupported type: feedback_buttons"),
    "11 children": ([container(*[section(text=words("x"))] * 11)], "no more than 10 items allowed"),
    "plan in a container": ([container(plan(task()))], "unsupported type: plan"),
    "rich text in a container": ([container(said())], "unsupported type: rich_text"),
    "untitled container": ([{"type": "container", "child_blocks": [section(text=words("x"))]}], "rich_text_title"),
    "collapsed": ([container({"type": "divider"}, default_collapsed=True)], "requires is_collapsible"),
    "data table of a header": ([data_table("ab")], "no less than 2 items allowed"),
    "data table of 202 rows": ([data_table(*["ab"] * 202)], "no more than 201 items allowed"),
    "numbers in a data table": (
        [{**data_table("a", "b"), "rows": [*cells("a"), [{"type": "raw_number", "value": 1, "text": "1"}]]}],
        "unsupported type: raw_number",
    ),
    "rich header": ([{**data_table(), "rows": [[said()], *cells("b")]}], "unsupported type: rich_text"),
    "uneven rows": ([data_table("ab", "c")], "all rows must have the same number of cells"),
    "large data table": ([data_table("a", ["x" * 20_000])], "the cells of a table take 20000 characters"),
    "101 rows": ([table(*["ab"] * 101)], "no more than 100 items allowed"),
    "21 columns": ([table("x" * 21)], "no more than 20 items allowed"),
    "two tables": ([table("a"), table("b")], "only one table allowed"),
    "three charts": ([chart(), chart(), chart()], "no more than 2 data_visualization"),
    "unlike labels": ([chart(axis_config={"categories": ["Tue"]})], "labels must match the categories"),
    "empty card": ([{"type": "card"}], "missing required field: hero_image or title or actions or body"),
    "long body": ([card(body=words("x" * 201))], "must be less than 201 characters"),
    "11 cards": ([{"type": "carousel", "elements": [card()] * 11}], "no more than 10 items allowed"),
    "loud alert": ([{"type": "alert", "text": words("x"), "level": "loud"}], "must be one of: default, info"),
    "remote file": ([{"type": "file", "source": "remote", "external_id": "x"}], "unsupported type: file"),
    "video over http": ([video(video_url="http://example.com/v")], "must be an https URL"),
    "long title of a video": ([video(title=words("x" * 200, "plain_text"))], "must be less than 200 characters"),
    "provider without state": ([{**PROVIDER, "is_connected": None}], "must provide a boolean"),
    "overflow of six": ([actions(menu("overflow", options=options(6)))], "no more than 5 items allowed"),
    "menu of many": ([actions(menu("multi_users_select"))], "unsupported type: multi_users_select"),
    "menu without options": ([actions(menu())], "missing required field: options or option_groups"),
    "text input in actions": ([actions(menu("plain_text_input"))], "unsupported type: plain_text_input"),
    "button as an input": ([question(button())], "unsupported type: button"),
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


def test_simulated_slack_knows_every_block_of_slacks_own_package() -> None:
    classes = cast("list[type[object]]", SdkBlock.__subclasses__())
    kinds = {str(getattr(one, "type", "")) for one in classes} - {"", "call", "file"}

    async def story(slack: Slack) -> None:
        for kind in sorted(kinds):
            answer = await slack.call("chat.postMessage", channel="C1", text="x", blocks=[{"type": kind}])
            messages = texts(object_of(answer, "response_metadata").get("messages"))
            assert not [one for one in messages if "unsupported" in one], kind
            assert answer["ok"] is (kind == "divider"), kind

    play(story)


def test_apps_of_others_show_remote_files() -> None:
    async def story(slack: Slack) -> None:
        block = {"type": "file", "source": "remote", "external_id": "x"}
        message = await slack.simulator.say("U3", "C1", "x", blocks=[block])
        assert text_of(message.blocks[0], "type") == "file"

    play(story)
