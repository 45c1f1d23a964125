"""Writing to Notion through the tools, against the simulator: once, with provenance, without mentions."""

from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.sources.notion.comments import AddComment, notion_add_comment
from gofer.sources.notion.ids import find_id
from gofer.sources.notion.markdown import blocks, comment_spans
from gofer.sources.notion.rich_text import rich_text
from gofer.sources.notion.write import AppendContent, UpdateProperties, notion_append_content, notion_update_properties
from gofer.tools.definition import Call
from gofer.values.errors import TemporaryError, ToolError
from gofer_simulators.faults import Fault
from gofer_simulators.notion.blocks import read_blocks
from gofer_simulators.notion.rich_text import read
from gofer_simulators.notion.simulator import NotionSimulator
from support.tools.calls import any_call
from support.tools.declared_tools import look_for
from support.vendors.notion import ADA, API, CACHE, HANDBOOK, INTRO, LIMITS, RISK, SAM, play


class Lossy:
    """HTTP that loses the answer of a request that was carried out."""

    def __init__(self, inner) -> None:
        self.inner = inner
        self.lose = ""

    async def send(self, request):
        answer = await self.inner.send(request)
        if self.lose and request.method == self.lose:
            self.lose = ""
            raise TemporaryError("nobody answered")
        return answer


def comments(notion: NotionSimulator, page: str = CACHE) -> list[dict]:
    return [one for one in notion.state()[page]["comments"] if one["by"] == "Gofer"]


@pytest.mark.parametrize(("block", "on"), [("", None), (INTRO, INTRO)])
def test_notion_comment_ends_with_links_and_is_found_by_the_call(block: str, on: str | None) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        lossy = Lossy(call.http)
        call = replace(call, http=lossy)
        wanted = AddComment(text="**Good**, but see [this](https://example.com).", block=block)
        assert await look_for(notion_add_comment, API, call, wanted) is None
        lossy.lose = "POST"
        with pytest.raises(TemporaryError):
            await notion_add_comment.act(API, call, wanted)
        found = await look_for(notion_add_comment, API, call, wanted)
        (made,) = comments(notion)
        assert found is not None
        assert (found.details["comment"], found.details["page"], made["block"]) == (made["id"], CACHE, on)
        assert made["text"].startswith("Good, but see this.\nanswer-here prompt · run run1 · ref ")
        texts = notion.workspace.comments[made["id"]].texts
        links = [one["href"] for one in texts if one["href"]]
        assert links == ["https://example.com", call.provenance.prompt_url, call.provenance.run_url]
        other = replace(call, key="run1/c/2", provenance=replace(call.provenance, wrote="created PAY-1"))
        assert await look_for(notion_add_comment, API, other, wanted) is None
        await notion_add_comment.act(API, other, wanted)
        assert "\ncreated PAY-1 · answer-here prompt · run run1 · ref " in comments(notion)[1]["text"]

    play(story)


def test_notion_reply_goes_into_an_open_discussion_only() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        page_level, _, on_block, settled = notion.state()[CACHE]["comments"]
        await notion_add_comment.act(API, call, AddComment(text="Noted", discussion=page_level["discussion"]))
        await notion_add_comment.act(
            API, call, AddComment(text="A week", discussion=on_block["discussion"], block=INTRO)
        )
        assert [one["discussion"] for one in comments(notion)] == [page_level["discussion"], on_block["discussion"]]
        for closed in (settled["discussion"], on_block["discussion"]):
            with pytest.raises(ToolError, match="No such discussion is open there"):
                await notion_add_comment.act(API, call, AddComment(text="x", discussion=closed))

    play(story)


def test_notion_comment_of_a_private_run_has_no_link_to_the_run() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        private = replace(call, provenance=replace(call.provenance, run_url=None))
        await notion_add_comment.act(API, private, AddComment(text="x", block=INTRO))
        assert "run run1" not in comments(notion)[0]["text"]
        before = len(notion.state()[LIMITS]["comments"])
        await notion_add_comment.act(API, private, AddComment(text="x", page=LIMITS))
        await notion_update_properties.act(API, private, UpdateProperties(page=LIMITS, properties={"Status": "Done"}))
        assert len(notion.state()[LIMITS]["comments"]) == before + 1

    play(story)


def test_notion_comment_on_a_block_needs_a_block_of_the_named_page() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        elsewhere = notion.workspace.page(HANDBOOK).blocks[0].id
        with pytest.raises(ToolError, match="not on that page"):
            await notion_add_comment.act(API, call, AddComment(text="x", block=elsewhere))
        await notion_add_comment.act(API, call, AddComment(text="x", block=elsewhere, page=HANDBOOK))
        nowhere = any_call(call.http, key="k", actor=call.actor.id, provenance=call.provenance)
        with pytest.raises(ToolError, match="Say which page"):
            await notion_add_comment.act(API, nowhere, AddComment(text="x"))

    play(story)


def test_notion_properties_are_set_by_names_of_properties_options_and_people() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        values = {
            "status": "ready for review",
            "Area": "Web",
            "Tags": ["ui", "API"],
            "Reviewers": ["@Ada Byron", "sam@acme.example"],
            "Notes": "**as written**",
            "Effort": 2.5,
            "Urgent": "yes",
            "Due": "2026-11-24/2026-11-25",
            "Link": "https://example.com",
            "Name": "Caches",
        }
        done = await notion_update_properties.act(API, call, UpdateProperties(properties=values))
        assert done.details["set"][0] == "Status"
        page = notion.state()[CACHE]
        assert page["title"] == "Caches"
        assert page["properties"] == {
            "Status": "Ready for review",
            "Area": "Web",
            "Tags": ["ui", "api"],
            "Reviewers": [ADA, SAM],
            "Notes": "**as written**",
            "Effort": 2.5,
            "Urgent": True,
            "Due": {"start": "2026-11-24", "end": "2026-11-25", "time_zone": None},
            "Link": "https://example.com",
        }
        cleared = {"Area": "", "Tags": [], "Reviewers": [], "Effort": None, "Due": "", "Link": None}
        await notion_update_properties.act(API, call, UpdateProperties(properties=cleared))
        assert [notion.state()[CACHE]["properties"][name] for name in cleared] == [None, [], [], None, None, None]
        await notion_update_properties.act(API, call, UpdateProperties(page=HANDBOOK, properties={"title": "Guide"}))
        assert notion.state()[HANDBOOK]["title"] == "Guide"

    play(story)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"Reviewers": ["Sam"]}, "2 people are called 'Sam'"),
        ({"Reviewers": ["Bo"]}, "No person in this Notion is called 'Bo'"),
        ({"Status": "Shipped"}, "it has Draft, Ready for review, Done"),
        ({"Tags": ["new"]}, "no option 'new'"),
        ({"State": "Done"}, "no property 'State'"),
        ({"Effort": True}, "write one such as 3"),
        ({"Urgent": "perhaps"}, "write true or false"),
        ({"Due": "tomorrow"}, "write it as 2026-11-21"),
        ({"Notes": ["a"]}, "as one text"),
        ({"Status": "Done", "Link": 5.0}, "as one text"),
    ],
)
def test_notion_ambiguous_or_invalid_value_is_refused_and_no_property_is_set(values: dict, words: str) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        before = notion.state()
        with pytest.raises(ToolError, match=words):
            await notion_update_properties.act(API, call, UpdateProperties(properties=values))
        assert notion.state() == before

    play(story)


def test_notion_content_is_appended_after_a_block_and_found_by_the_call() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        lossy = Lossy(call.http)
        call = replace(call, http=lossy)
        text = "## Review\n\n- one\n  - below\n- [x] done\n\n```py\nx = 1\n```\n\n---\n\n> so"
        wanted = AppendContent(text=text, after=INTRO)
        assert await look_for(notion_append_content, API, call, wanted) is None
        lossy.lose = "PATCH"
        with pytest.raises(TemporaryError):
            await notion_append_content.act(API, call, wanted)
        assert await look_for(notion_append_content, API, call, wanted)
        lines = notion.state()[CACHE]["markdown"].splitlines()
        assert lines[:10] == [
            "We cache **everything**.",
            "## Review",
            "- one",
            "\t- below",
            "- [x] done",
            "```python",
            "x = 1",
            "```",
            "---",
            "> so",
        ]
        assert lines[10].startswith("[answer-here prompt](http://localhost/prompts/answer-here) · [run run1](")
        assert lines[11:] == ["## Risks", "- stale data"]
        await notion_append_content.act(
            API, call, AppendContent(text="| a | b |\n|---|---|\n| 1 | **2** |", page=LIMITS)
        )
        assert notion.state()[LIMITS]["markdown"].startswith("| a | b |\n|---|---|\n| 1 | **2** |\n")
        with pytest.raises(ToolError, match="99 fit into one call"):
            await notion_append_content.act(API, call, AppendContent(text="x\n\n" * 100))

    play(story)


def test_notion_failed_write_is_temporary_and_a_conflict_is_refused() -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        notion.faults.add("POST", "/v1/comments", Fault("status", 500))
        with pytest.raises(TemporaryError):
            await notion_add_comment.act(API, call, AddComment(text="x"))
        notion.faults.add("POST", "/v1/comments", Fault("status", 409))
        with pytest.raises(ToolError, match="changed it at the same moment"):
            await notion_add_comment.act(API, call, AddComment(text="x"))

    play(story)


MARKDOWN = st.lists(
    st.sampled_from(
        ["# h", "- a", "  - b", "    - c", "1. x", "> q", "```", "|a|b|\n|-|-|\n|1|2|", "*", "**", "`", "[x](http://e.com)",
         "[x](javascript:1)", "![i](http://e.com/i)", "<b>", "@Ada", "🚀" * 1500, "- [ ] t", "\n", " ", "---"]
    ) | st.text(max_size=20),
    max_size=30,
).map("\n".join)  # fmt: skip


@given(MARKDOWN)
def test_notion_accepts_any_markdown_and_mentions_no_person(markdown: str) -> None:
    def nobody(user: str) -> str:
        raise AssertionError(user)

    texts = read(rich_text(comment_spans(markdown)), nobody)
    assert all(one["type"] == "text" for one in texts)
    made = blocks(markdown)
    for start in range(0, len(made), 100):
        read_blocks(made[start : start + 100], iter(map(str, range(10_000))).__next__, nobody)


def table(rows: int) -> str:
    return "| n | what |\n|---|---|\n" + "\n".join(f"| {n} | **row** {n} |" for n in range(rows))


@pytest.mark.parametrize(("rows", "tables"), [(1, 1), (99, 1), (100, 2), (500, 6)])
def test_notion_long_table_becomes_several_with_the_same_header(rows: int, tables: int) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        await notion_append_content.act(API, call, AppendContent(text=table(rows), page=LIMITS))
        lines = notion.state()[LIMITS]["markdown"].splitlines()
        assert lines.count("| n | what |") == tables
        assert [line for line in lines if "row" in line] == [f"| {n} | **row** {n} |" for n in range(rows)]

    play(story)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (table(1_000), "more than 1000 rows and blocks in all; add it in several calls"),
        ("- item\n" + "  - below\n" * 101, "more than 100 blocks below it"),
        ("\n\n".join(" ".join(f"**w{n}** {'x' * 30}" for n in range(45)) for _ in range(40)), None),
        ("| " + "*a* b " * 45 + "|" + "\n|---|\n" + ("| " + "*a* b " * 45 + "|\n") * 98, "more than the 500 kB"),
    ],
)
def test_notion_content_over_the_limits_is_refused_before_the_request(text: str, said: str | None) -> None:
    async def story(notion: NotionSimulator, call: Call) -> None:
        before = notion.state()
        arguments = AppendContent.model_construct(text=text, page=LIMITS, after="")
        if said is None:
            await notion_append_content.act(API, call, arguments)
            return
        with pytest.raises(ToolError, match=said):
            await notion_append_content.act(API, call, arguments)
        assert notion.state() == before

    play(story)


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"Link": "https://example.com/" + "x" * 2_000}, "Link takes 2,000 characters, and this has 2,020"),
        ({"Reviewers": ["Ada Byron"] * 101}, "Reviewers takes 100 entries, and these are 101"),
        ({"Due": "2026-02-30"}, "Due is a date; write it as 2026-11-21"),
        ({"Due": "tomorrow"}, "Due is a date; write it as 2026-11-21"),
    ],
)
def test_notion_value_over_the_limits_is_refused_with_the_expected_form(properties: dict, said: str) -> None:
    async def story(_: NotionSimulator, call: Call) -> None:
        with pytest.raises(ToolError, match=said):
            await notion_update_properties.act(API, call, UpdateProperties(properties=properties, page=CACHE))

    play(story)


def test_notion_text_with_too_much_formatting_loses_formatting_before_words() -> None:
    markdown = " ".join(f"**w{n}** x" for n in range(200))
    assert "".join(one["text"]["content"] for one in rich_text(comment_spans(markdown))) == markdown.replace("*", "")


@given(st.text() | st.text().map("https://{}".format))
@example("https://[")
def test_notion_id_is_never_read_from_arbitrary_words(words: str) -> None:
    assert find_id(words) is None


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (CACHE, CACHE),
        (CACHE.replace("-", ""), CACHE),
        (f"https://www.notion.so/acme/Cache-{CACHE.replace('-', '')}?v={RISK}#x", CACHE),
        (f"/{CACHE.replace('-', '')}?pvs=4#{RISK}", CACHE),
        (f"see {CACHE}", None),
        ("Cache", None),
    ],
)
def test_notion_id_is_read_from_an_id_or_a_link_only(text: str, found: str | None) -> None:
    assert find_id(text) == found


def test_notion_comment_with_too_much_formatting_keeps_words_links_and_marker() -> None:
    text = " ".join(f"**w{n}** x" for n in range(200)) + " [source](https://example.com/s)"

    async def story(notion: NotionSimulator, call: Call) -> None:
        await notion_add_comment.act(API, call, AddComment(text=text))
        assert await look_for(notion_add_comment, API, call, AddComment(text=text))
        (made,) = comments(notion)
        texts = notion.workspace.comments[made["id"]].texts
        assert made["text"].startswith("w0 x w1 x")
        assert "source (https://example.com/s)\nanswer-here prompt" in made["text"]
        assert [one["href"] for one in texts if one["href"]] == [call.provenance.prompt_url, call.provenance.run_url]

    play(story)
