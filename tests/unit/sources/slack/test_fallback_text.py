"""Fallback texts of Slack messages, for notifications: the words of the Markdown as valid mrkdwn."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.slack.fallback_text import LIMIT, fallback

CHAT_UPDATE = 4_000
"""Bytes of text that Slack's `chat.update` takes."""
MARKUP = re.compile(r"<https?://[^<>|\s]+\|[^<>\n]+>|<mailto:[^<>|\s]+\|[^<>\n]+>|&amp;|&lt;|&gt;")


def test_slack_fallback_text_has_the_words_of_the_markdown() -> None:
    markdown = (
        "## Result\n\nIt is **done** & _fine_, see [the plan](https://example.com/a_(b)?x=1&y=2) and `a<b`.\n\n"
        "1. first\n   - inner\n2. second\n\n| who | what |\n|---|---|\n| Ada | 3 |\n\n```sql\nselect 1\n```"
    )
    assert fallback(markdown) == (
        "Result\nIt is done &amp; fine, see <https://example.com/a_(b)?x=1&amp;y=2|the plan> and `a&lt;b`.\n"
        "1. first\n  • inner\n2. second\nwho  what  \nAda  3  \nselect 1"
    )


def test_slack_fallback_text_turns_images_links_and_rules_into_words() -> None:
    assert fallback("![a chart](https://e.com/c.png)") == "<https://e.com/c.png|a chart>"
    assert fallback("[go](slack://x) <a@b.c>") == "go <mailto:a@b.c|a@b.c>"
    assert fallback("[](https://e.com)") == "<https://e.com|https://e.com>"
    assert fallback("---") == "…"


@given(st.one_of(st.text(max_size=400), st.text("[](<>)&|*_`~ https://e.com\n#-1.", max_size=600)), st.integers(1, 40))
def test_slack_fallback_text_stays_below_the_limit_with_whole_links_and_entities(text: str, times: int) -> None:
    shown = fallback(f"{text}\n\n" * times)
    assert 0 < size(shown) <= LIMIT
    assert not set(MARKUP.sub("", shown)) & set("<>&")


def test_slack_fallback_text_handles_a_long_word_and_a_long_address() -> None:
    assert size(fallback("x" * 12_000)) <= LIMIT
    assert fallback(f"[words](https://e.com/{'x' * 3_000})") == "words"


@pytest.mark.parametrize(
    "word", ["日本語の文章", "Кириллица ", "مرحبا ", "🚀👩‍🔧", "<&>", "[日本](https://例え.jp/日) "]
)
def test_slack_fallback_text_of_any_script_fits_into_an_edit(word: str) -> None:
    shown = fallback(word * 2_000)
    assert LIMIT // 2 < size(shown) <= LIMIT < CHAT_UPDATE
    assert shown.endswith("…")


def size(text: str) -> int:
    return len(text.encode())
