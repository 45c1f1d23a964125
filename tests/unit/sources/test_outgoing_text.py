"""Texts for people: in every system, only addresses that a run read are live, whatever form others have."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gofer.sources.markdown import parse
from gofer.sources.markdown_nodes import CodeBlock, every
from gofer.sources.outgoing_text import plain_words, rebuilt
from gofer.values.addresses import Live, key_of, keys_in
from gofer.values.visible_text import visible
from support.vendors.live_links import LIVE_LINKS

READ = frozenset(
    keys_in(
        "https://held.example/a?x=1 https://held.example/p_q*r https://wiki.example/b_(c) ok@held.example acme/api#12"
    )
)
LIVE = Live(READ.__contains__, frozenset({"jira.acme.example"}))
EVIL = "https://evil.example/p?d=secret"
HELD = "https://held.example/a?x=1"

FORMS = {
    "bare address": f"See {EVIL}.",
    "bare host with a path": "See evil.example/secret.",
    "bare host": "See secret.evil.example now.",
    "www": "See www.evil.example/secret",
    "inline link": f"[click]({EVIL})",
    "link with a title": f'[click]({EVIL} "Approve in Slack")',
    "link in angle brackets": f"[click](<{EVIL}>)",
    "link without words": f"[]({EVIL})",
    "reference link": f"[click][r]\n\n[r]: {EVIL}",
    "collapsed reference link": f"[r][]\n\n[r]: {EVIL} 'title'",
    "shortcut reference link": f"> [r]: {EVIL}\n\n[r]",
    "autolink": f"<{EVIL}>",
    "link of Slack": f"<{EVIL}|Approve in Slack>",
    "link of Slack in one word": f"<{EVIL}|Approve>",
    "date link of Slack": f"<!date^1392734382^{{date}}^{EVIL}|today>",
    "picture": f"![x]({EVIL})",
    "reference picture": f"![x][r]\n\n[r]: {EVIL}",
    "picture in a link": f"[![x]({EVIL})]({HELD})",
    "picture in a picture": f"![![x]({EVIL})]({EVIL})",
    "HTML picture": f'<img src="{EVIL}">',
    "HTML link": f'<a href="{EVIL}">click</a>',
    "HTML block": f"<details>\n<summary>x</summary>\n<img src={EVIL}>\n</details>",
    "HTML hiding a code span": f'<a href="`{EVIL}`">`click`</a>',
    "HTML comment": f"<!-- {EVIL} -->",
    "entities": "&#104;ttps://evil&period;example/secret",
    "entities without a dot": "https&colon;&sol;&sol;evil&period;example&sol;secret",
    "link with entities": "[x](&#104;ttps&#58;//evil.example/secret)",
    "backslashes": "https\\://evil\\.example/secret",
    "percent signs": "https://evil%2Eexample/secret",
    "zero width inside": "https://evil.exa\u200bmple/secret",
    "soft hyphen and joiner": "ht\u00adtps:/\u2060/evil.example/secret",
    "tags": f"{HELD}{''.join(chr(0xE0000 + ord(char)) for char in 'secret')} [x]({EVIL})",
    "right to left": "https://\u202eelpmaxe.live\u202c/secret evil.example/x",
    "user name": "https://held.example@evil.example/secret",
    "backslash in the host": "https://evil.example\\@held.example/secret",
    "Punycode": "https://xn--hld-0na.example/secret",
    "other script": "https://h\u0435ld.example/secret",
    "full width dot": "https://evil\uff0eexample/secret evil\u3002example/x",
    "data": "[x](data:text/html;base64,c2VjcmV0) data:text/html,x",
    "javascript": "[x](javascript:alert(1)) javascript:alert(1)",
    "other schemes": "ws://evil.example/s smb://evil.example/s ldap://evil.example/s [x](ftp://evil.example/s)",
    "no scheme": "//evil.example/secret [x](//evil.example/secret)",
    "e-mail": "Write to eve+secret@evil.example or <eve@evil.example>.",
    "mailto": "[mail](mailto:eve@evil.example?body=secret) mailto:eve@evil.example",
    "issue of another repository": "Fixed in evil/repo#1, see evil/repo@0123abc.",
    "table": f"| a | b |\n|---|---|\n| {EVIL} | [x]({EVIL}) |",
    "heading": f"# {EVIL}\n\n[x]({EVIL})\n===",
    "list": f"- a\n  1. {EVIL}\n     > [x]({EVIL})\n- [ ] {EVIL}",
    "code span that breaks out": f"`code `` {EVIL} ` {EVIL}",
    "fence that breaks out": f"```\ncode\n``\n~~~\n```\n{EVIL}",
    "drawing": f'```mermaid\ngraph TD\nclick A "{EVIL}"\n```',
    "footnote": f"text[^1]\n\n[^1]: {EVIL}",
    "footnote with words": f"text[^1]\n\n[^1]: see {EVIL}",
    "emphasis inside": "https://evil.**example**/secret https:**//evil.example/x**",
    "held address and a mark": f"{HELD}**secret** **{HELD}**secret",
    "held address and a quote": f'{HELD}"secret {HELD}`secret`',
    "held address and a wide space": f"{HELD}\u00a0secret",
    "held address with a query": "https://held.example/a?x=1&d=secret",
    "held address with a fragment": f"{HELD}#secret",
    "held address, another page": "https://held.example/secret",
    "held address, encoded": "https://held.example/%61?x=1",
    "own host with a query": "https://jira.acme.example/browse/PAY-1?d=secret",
    "label that names another": f"[{EVIL}]({HELD})",
    "inner address": f"https://redirect.example/?to={EVIL}",
}


def dead(address: str) -> bool:
    """Return whether an address of a form is one that no text may have as a link."""
    return not LIVE(address) and not LIVE(address.removeprefix("https://"))


@pytest.mark.parametrize("system", LIVE_LINKS)
@pytest.mark.parametrize("form", FORMS)
def test_no_form_of_a_link_that_was_not_read_is_live(form: str, system: str) -> None:
    text = rebuilt(FORMS[form], LIVE)
    assert not list(filter(dead, LIVE_LINKS[system](text))), text
    assert rebuilt(text, LIVE) == text


def test_readings_find_the_links_that_the_gate_takes_away() -> None:
    missed = [
        form for form, text in FORMS.items() if not any(any(map(dead, live(text))) for live in LIVE_LINKS.values())
    ]
    # What hides in them is seen only once the invisible characters are gone, or by a browser.
    assert set(missed) <= {
        "right to left",
        "HTML comment",
        "label that names another",
        "entities without a dot",
        "no scheme",
        "soft hyphen and joiner",
    }


@pytest.mark.parametrize("system", LIVE_LINKS)
@pytest.mark.parametrize(
    "text",
    [
        f"See {HELD}.",
        f"See <{HELD}> and [this]({HELD}).",
        f"- **a**: {HELD}\n- b\n\n> {HELD}",
        f"[Approve]({HELD})",
        "See https://jira.acme.example/browse/PAY-412.",
        "A page: https://wiki.example/b_(c).",
    ],
)
def test_read_links_stay_unchanged(text: str, system: str) -> None:
    assert rebuilt(text, LIVE) == text
    live = LIVE_LINKS[system](text)
    assert live
    assert all(map(LIVE, live))


@pytest.mark.parametrize(
    "text",
    [
        "Plain *words*, `code` and ~5 min; a < b && c > d, f(x)[0], R&D, 3.5 %, v1.2.3, e.g. 10:30.",
        "# Title\n\n1. one\n2. two\n   - three\n\n| a | b |\n|:--|--:|\n| c | d |",
        "```py\nprint('https://evil.example')\n```",
        "サービスは**正常**です。詳細は[記録](https://held.example/a?x=1)をご覧ください。",
        "`https://evil.example/x` is code.",
        "Ask @ann in #general about PAY-412 \u2764\ufe0f \U0001f469\u200d\U0001f4bb, see config.yaml.",
        "1.\u66f4\u65b0 2.\u5220\u9664\u3002OK, see src/app.py and /etc/hosts, C:\\temp, and/or: `x`",
        f"[README.txt]({HELD}) [{HELD}]({HELD})",
        "    indented = code",
        "Text  \nwith a break\\\nand \\*escapes\\* &amp; entities.",
    ],
)
def test_texts_without_unread_links_stay_byte_for_byte(text: str) -> None:
    assert rebuilt(text, LIVE) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (f"See {EVIL}.", "See `evil[.]example/p?d=secret`."),
        (f"[click]({EVIL})", "click (`evil[.]example/p?d=secret`)"),
        (f"![a chart]({EVIL})", "a chart (`evil[.]example/p?d=secret`)"),
        (f"![a chart]({HELD})", f"[a chart]({HELD})"),
        (f"<{HELD}|Approve now>", f"[Approve now]({HELD})"),
        (f"[click][r]\n\n[r]: {HELD}", f"[click]({HELD})"),
        (f'[click]({HELD} "title")', f"[click]({HELD})"),
        (f'<img src="{EVIL}"> <T> x', '`<img src="evil[.]example/p?d=secret">` \\<T> x'),
        ("Use <b>bold</b>.", "Use \\<b>bold\\</b>."),
        ("Mail eve@evil.example", "Mail `eve[@]evil[.]example`"),
        ("[guide](docs/guide.md)", "guide (`docs/guide.md`)"),
        ("See README.md and secret.evil.example", "See `README.md` and `secret.evil.example`"),
        (f"{HELD}**more**", f"<{HELD}>**more**"),
        (f"詳細は{HELD}をご覧ください。", f"詳細は<{HELD}>をご覧ください。"),
        ("[note]: https://evil.example", "[note\\]: `evil[.]example`"),
        ("See evil\uff0eexample/p or evil\u2024example/p", "See `evil[.]example/p` or `evil[.]example/p`"),
        ("See \uff45\uff56\uff49\uff4c\uff0eexample/p", "See `evil[.]example/p`"),
        ("See \u24d4vil.example/p", "See `evil[.]example/p`"),
        ("See www.\u0437\u043b\u043e.\u0440\u0444/p", "See `www[.]\u0437\u043b\u043e[.]\u0440\u0444/p`"),
        ("See \u0437\u043b\u043e.\u0440\u0444 now", "See `\u0437\u043b\u043e.\u0440\u0444` now"),
        ("https:/evil.example/p", "`https[:]/evil[.]example/p`"),
        ("https:\\\\evil.example\\p", "`https[:]\\evil[.]example\\p`"),
        ("Look...evil.example/p", "Look...`evil[.]example/p`"),
        ("Code:\n\n    https://evil.example/p", "Code:\n\n```text\nhttps://evil.example/p\n```"),
        ("```\n[x](https://evil.example/p)", "```\n[x](https://evil.example/p)\n```"),
        ("$`\\href{//evil.example/p}{x}`$", "$`\\href{evil[.]example/p}{x}`$"),
        ('```mermaid\nclick A "//evil.example/p"\n```', '```\nclick A "//evil.example/p"\n```'),
        (f"[https://jira.acme.example/a]({HELD})", f"[`jira[.]acme[.]example/a`]({HELD})"),
        (f"<{HELD}|jira.acme.example>", f"[`jira.acme.example`]({HELD})"),
    ],
)
def test_dead_address_stays_readable(text: str, shown: str) -> None:
    assert rebuilt(text, LIVE) == shown


def test_block_that_would_be_parsed_otherwise_stays_as_code() -> None:
    text = rebuilt(f"Fine.\n\n**{HELD}**secret", LIVE)
    assert [type(node) for node in parse(text)][1:] == [CodeBlock]


def test_titles_and_files_keep_every_character_but_dead_addresses() -> None:
    text = f"Fix <Button> in *README.md*, see {EVIL}, //evil.example/p, evil\uff0eexample/p, {HELD}"
    dead_ones = "evil[.]example/p?d=secret, evil[.]example/p, evil[.]example/p"
    assert plain_words(text, LIVE) == f"Fix <Button> in *README.md*, see {dead_ones}, {HELD}"


pieces = st.sampled_from(
    [
        *(
            EVIL,
            HELD,
            "evil.example/x",
            "www.evil.example",
            "eve@evil.example",
            "evil/repo#1",
            "javascript:x",
            "//evil.example/y",
        ),
        *(
            "[",
            "]",
            "(",
            ")",
            "](",
            "![",
            "<",
            ">",
            "|",
            "`",
            "``",
            "*",
            "**",
            "_",
            "~~",
            "\\",
            "&#58;",
            "&",
            '"',
            "'",
            ":",
        ),
        *(
            "\n",
            "\n\n",
            "  \n",
            "\n- ",
            "\n> ",
            "\n# ",
            "\n1. ",
            "\n```\n",
            "\n    ",
            "\n|---|\n",
            "\n[r]: ",
            "[r]",
            "[^1]",
            "\n---\n",
        ),
        *(
            "<a href=",
            "<img src=",
            "</a>",
            "<!--",
            "-->",
            "\u200b",
            "\u00a0",
            "a",
            "secret",
            " ",
            " ",
            ".",
            "/",
            "http",
            "s://",
        ),
    ]
)


@given(st.lists(pieces, max_size=25).map("".join))
@example(f"[a]({HELD}\n\n)[r]: {EVIL}\n[r]")
def test_no_text_makes_an_address_live_that_was_not_read(text: str) -> None:
    shown = rebuilt(text, LIVE)
    for system, live in LIVE_LINKS.items():
        assert not list(filter(dead, live(shown))), (system, shown)
    assert rebuilt(shown, LIVE) == shown


@given(st.lists(pieces, max_size=25).map("".join))
def test_rebuilt_text_holds_no_picture_and_no_tag(text: str) -> None:
    shown = rebuilt(text, LIVE)
    assert "Image" not in repr(list(every(parse(shown))))
    assert visible(shown) == shown


def test_key_of_an_address_does_not_depend_on_its_encoding() -> None:
    address = "https://Wiki.Example/\u00e4 b".replace(" ", "%20")
    assert key_of(address) == key_of("http://wiki.example/%C3%A4%20b")
