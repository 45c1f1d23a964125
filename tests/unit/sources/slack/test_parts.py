"""Markdown divided into Slack messages: within the limits, together complete, never cut inside a character or link."""

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from gofer.sources.slack.fallback_text import fallback
from gofer.sources.slack.markdown import Cost, cost, normal
from gofer.sources.slack.parts import BEGINNING, MESSAGES, ONE_MESSAGE, compose, neutral, one_message, split
from gofer_simulators.slack.arguments import Arguments
from gofer_simulators.slack.content import content_of
from support.property_examples import examples

parse = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).parse
SMALL = Cost(characters=600, blocks=8, rows=10, cells=400)
"""The limits of a Slack with small messages, so that generated texts are divided often."""

words = st.text(st.sampled_from("abc Zürich 漢字 مرحبا שלום 🚀👩‍🔧é_*.!?#&<>|\\"), min_size=1, max_size=40).map(
    lambda text: " ".join(text.split()) or "x"
)
plain = st.text(st.sampled_from("abcdef ghij klmno été 漢字 مرحبا 🚀 12.?!"), min_size=1, max_size=120).map(
    lambda text: " ".join(text.split()) or "x"
)
links = st.builds(
    "[{}](https://example.com/{}_({})?a=1&b=2)".format,
    st.text("abc de", min_size=1, max_size=20).map(lambda label: label.strip() or "x"),
    st.text("abcdef", max_size=60),
    st.text("xyz", min_size=1, max_size=9),
)
spans = st.one_of(plain, links, plain.map("`{}`".format), plain.map("**{}**".format))
sentences = st.lists(spans, min_size=1, max_size=12).map(" ".join)
headings = st.builds("{} {}".format, st.sampled_from(["#", "##", "###"]), plain)


def below(head: str, body: str) -> str:
    """Return a list inside an item of another list."""
    return f"- {head}\n" + "\n".join(f"  {line}" for line in body.split("\n"))


flat = st.lists(sentences, min_size=1, max_size=6).map(lambda items: "\n".join(f"- {item}" for item in items))
nested = st.builds(below, plain, flat)
lists = st.one_of(flat, nested, st.builds(below, sentences, nested))
numbered = st.lists(sentences, min_size=2, max_size=12).map(
    lambda items: "\n".join(f"{n}. {item}" for n, item in enumerate(items, 1))
)
code = st.lists(st.text("abc(){} ;=`\t🚀", max_size=60), max_size=30)
fences = st.builds(
    lambda mark, language, lines: "\n".join([mark + language, *(line.replace(mark, "") for line in lines), mark]),
    st.sampled_from(["```", "````", "~~~"]),
    st.sampled_from(["", "python", "c++", "json title=x"]),
    code,
)
cells = st.text("abc 漢字", min_size=1, max_size=30).map(lambda text: text.strip() or "x")
tables = st.integers(1, 4).flatmap(
    lambda columns: st.lists(st.lists(cells, min_size=columns, max_size=columns), min_size=1, max_size=25).map(
        lambda rows: "\n".join(
            ["| h " * columns + "|", "|---" * columns + "|", *(f"| {' | '.join(r)} |" for r in rows)]
        )
    )
)
quotes = st.one_of(sentences, lists, fences).map(
    lambda text: "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
)
documents = st.lists(
    st.one_of(sentences, headings, lists, numbered, fences, tables, quotes, st.just("---")), min_size=1, max_size=12
).map("\n\n".join)
anything = st.one_of(
    documents,
    documents.map(lambda text: text.replace("\n", "\r\n")),
    st.text(max_size=1_500),
    st.text(st.sampled_from(list("`~>|-*_#[]()! \n\t\\<&;12.ab🚀\u202e")), max_size=2_500),
    st.builds(lambda head, word, tail: head + word * 900 + tail, words, words, words),
    documents.map(lambda text: f"{text}\n\n```python\n" + "x = 1\n" * 200),
)


def content(markdown: str) -> str:
    """Return the readable text without white space; a table header repeated from the part before counts once."""
    kept: list[str] = []
    header, heads, inside = "", [], False
    for token in parse(markdown):
        if token.type == "thead_open":
            heads, inside = [], True
        elif token.type == "thead_close":
            repeated, header, inside = "|".join(heads) == header, "|".join(heads), False
            kept += [] if repeated else heads
        elif token.type == "inline" and inside:
            heads.append(token.content)
        elif token.type in ("inline", "fence", "code_block"):
            kept.append(token.content)
    return "".join("".join(kept).split())


def spans_of(markdown: str) -> Counter[tuple[str, str]]:
    found: Counter[tuple[str, str]] = Counter()
    for token in parse(markdown):
        for child in token.children or ():
            if child.type in ("link_open", "code_inline", "image"):
                found[child.type, str(child.attrs.get("href", child.content))] += 1
    return found


@settings(deadline=None)
@given(anything)
def test_slack_parts_stay_within_the_limits_and_lose_no_character(markdown: str) -> None:
    messages = split(markdown, SMALL)
    assert all(message.strip() and cost(message).within(SMALL) for message in messages)
    rest = iter("".join(messages))
    assert all(char in rest for char in neutral(normal(markdown)) if not char.isspace() and char not in ">`~|-")


@settings(deadline=None)
@given(documents)
def test_slack_parts_together_have_the_content_of_the_text(markdown: str) -> None:
    messages = split(markdown, SMALL)
    whole = "\n\n".join(messages)
    assert content(whole) == content(neutral(markdown))


LONG_LINK = f"[a](https://example.com/{'a' * 50}_(x)?a=1&b=2)"
MANY_WORDS = f"`{'a ' * 50}a`"


@settings(deadline=None)
@given(documents)
@example(f"1\n\n> - {' '.join([LONG_LINK] * 12)} **{'1' * 42}**")
@example(" ".join([MANY_WORDS] * 12))
@example(f"{'a' * 480}\n\n{' '.join([MANY_WORDS] * 12)}")
@example(f"> - {' '.join([*[MANY_WORDS] * 4, LONG_LINK] * 3)}")
def test_slack_parts_never_cut_links_or_leave_fences_open(markdown: str) -> None:
    messages = split(markdown, SMALL)
    assert sum(map(spans_of, messages), Counter()) == spans_of(neutral(markdown))
    languages = {token.info.strip() for token in parse(markdown) if token.type == "fence"}
    for message in messages:
        for token in parse(message):
            if token.type == "fence":
                assert token.info.strip() in languages
                lines = message.split("\n")[token.map[0] : token.map[1]]
                assert lines[-1].strip("> ").startswith(token.markup)


@examples(0.5)
@given(st.lists(anything, min_size=1, max_size=4), st.integers(1, 60))
@example(["> ```\n> ```"], 25)
@example(["> # heading\n> # heading"], 30)
@example(["- # heading\n  ---\n  text"], 30)
@example(["- ```\n  code\n  ```\n  text\n\n  ---\n  > - # deep"], 30)
def test_slack_parts_of_any_text_are_accepted_by_slack(texts: list[str], times: int) -> None:
    composed = compose("\n\n".join(["begin", *texts * times])[:200_000])
    assert 1 <= len(composed.messages) <= MESSAGES
    for message in composed.messages:
        assert one_message(message) == message
        blocks = [{"type": "markdown", "text": message}, {"type": "divider"}]
        content_of(Arguments({"text": fallback(message), "blocks": blocks}))


@settings(deadline=None)
@given(anything)
def test_slack_parts_are_deterministic_and_a_part_is_not_divided_again(markdown: str) -> None:
    messages = split(markdown, SMALL)
    assert split(markdown, SMALL) == messages
    assert all(split(message, SMALL) == (normal(message),) for message in messages)


def test_slack_text_that_fits_is_left_unchanged() -> None:
    text = "# Done\n\nIt is **live**.\n\n- one\n- two"
    assert compose(text).messages == (text,)
    assert one_message(text) == text
    assert split(" \n\u2028") == ()


def test_slack_parts_treat_an_invisible_line_as_empty() -> None:
    # The parser takes U+0085 for a word; as an empty block it left empty lines at the end of a message.
    quote = "\n".join(["> - one", *(f">   - {'word ' * 8}" for _ in range(12))])
    messages = split("\n\n".join(["begin", *["\x85", quote] * 59]))
    assert len(messages) > 1
    assert [message for message in messages if message != message.strip("\n") or "\n\n\n" in message] == []


def test_slack_parts_continue_a_fence_in_the_same_language_and_a_table_with_the_header() -> None:
    fence = "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(1_400)) + "\n```"
    first, *others = split(fence)
    assert len(others) == 1
    assert all(part.startswith("```python\nline_") and part.endswith("\n```") for part in (first, *others))
    table = "| name | state |\n|---|---|\n" + "\n".join(f"| service {n} | fine |" for n in range(250))
    parts = split(table)
    assert len(parts) == 3
    assert all(part.startswith("| name | state |\n|---|---|\n| service ") for part in parts)


@pytest.mark.parametrize(
    "markdown",
    ["word " * 2_190, "---\n\nword\n\n" * 20, "## Heading\n\n" * 44,
     "## Heading\n\n" + "word " * 150 + "\n\n", "a <b> & c " * 1_100,
     "```html\n" + "<p>a & b</p>\n" * 800 + "```", "| a | b |\n|---|---|\n| <c> | & |\n\n" * 40],
)  # fmt: skip
def test_slack_parts_keep_all_blocks_of_a_message_within_the_limit(markdown: str) -> None:
    links = [{"type": "context", "elements": [{"type": "mrkdwn", "text": "x" * 500}]}]
    messages = split(markdown * 3)
    assert "".join("".join(messages).split()).startswith("".join(markdown.split())[:30])
    for message in messages:
        content_of(Arguments({"text": fallback(message), "blocks": [{"type": "markdown", "text": message}, *links]}))


def test_slack_parts_fill_a_message_with_short_paragraphs() -> None:
    paragraphs = "\n\n".join(f"Paragraph {n}. " + "word " * 15 for n in range(240))
    assert [len(message) > 10_000 for message in split(paragraphs)] == [True, True, False]


def test_slack_parts_divide_lists_between_items_and_keep_headings_with_their_text() -> None:
    items = [f"- item {n} " + "word " * 180 for n in range(20)]
    parts = split("\n".join(items))
    assert all(line.startswith("- item ") for part in parts for line in part.split("\n"))
    below = "word " * 2_000
    first, second = split(f"{below}\n\n## Next\n\n{below}")
    assert (first.count("#"), second[:7]) == (0, "## Next")


def test_slack_parts_keep_a_short_beginning_with_the_long_block_after() -> None:
    fence = "```\n" + "x = 1\n" * 3_000 + "```"
    first = split(f"Here is the file:\n\n{fence}")[0]
    assert first.startswith("Here is the file:\n\n```\nx = 1")
    assert len(first) > 10_900


def test_slack_table_with_too_many_columns_is_shown_as_code() -> None:
    table = "| a " * 30 + "|\n" + "|---" * 30 + "|\n" + "| 1 " * 30 + "|"
    assert split(table) == (f"```\n{table}\n```",)


def test_slack_answer_longer_than_the_messages_becomes_a_file_with_a_beginning() -> None:
    long = "\n\n".join(f"Paragraph {n}. " + "word " * 100 for n in range(200))
    composed = compose(long)
    assert composed.file == long
    (beginning,) = composed.messages
    assert beginning.startswith("Paragraph 0.")
    assert BEGINNING / 2 < len(beginning) <= BEGINNING
    few = compose(long[:40_000])
    assert (len(few.messages), few.file) == (MESSAGES, "")


@pytest.mark.parametrize(
    "markdown",
    ["[" * 200_000, "> " * 100_000, "- " * 100_000, "`" * 200_000, "|" * 90_000 + "\n" + "|-" * 50_000, "👩‍🔧" * 40_000,
     "# x\n\n" * 40_000, "a\n" * 90_000, "\u202e" * 200_000, "| a |\n|---|\n" * 15_000, "**a " * 50_000],
)  # fmt: skip
def test_slack_parts_of_200_kilobytes_stay_within_the_number_of_messages(markdown: str) -> None:
    composed = compose(markdown)
    assert 1 <= len(composed.messages) <= MESSAGES
    assert all(cost(message).within(ONE_MESSAGE) for message in composed.messages)
