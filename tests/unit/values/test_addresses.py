"""Addresses: which texts count as one, which of them are the same, and which may be links."""

import pytest

from gofer.values.addresses import Live, host_of, inert, key_of, keys_in, spans


def found(text: str) -> list[str]:
    return [text[start:end] for start, end in spans(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("See https://a.example/b?c=1.", ["https://a.example/b?c=1"]),
        ("(https://a.example/b_(c)), a.example/x!", ["https://a.example/b_(c)", "a.example/x"]),
        ("Mail ann@a.example, o/r#12 or o/r@0123abc", ["ann@a.example", "o/r#12", "o/r@0123abc"]),
        ("http://127.0.0.1:8080/x and //a.example/x", ["http://127.0.0.1:8080/x", "//a.example/x"]),
        (
            "ws://a.example javascript:alert(1) data:text/html,x",
            ["ws://a.example", "javascript:alert(1)", "data:text/html,x"],
        ),
        ("data: 10:30, e.g. v1.2.3, config.yaml, U.S., src/a.py, 3.5 %, PAY-412, #12, です。詳細は", []),
    ],
)
def test_addresses_are_found_without_the_punctuation_of_sentences(text: str, expected: list[str]) -> None:
    assert found(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "https://a.example/b",
        "<https://a.example/b|words>",
        '{"url":"https://a.example/b"}',
        "[x](https://a.example/b).",
        "[https://a.example/b](https://c.example)",
        "'https://a.example/b', 'c'",
        "http://A.EXAMPLE/b",
        '{"url":"https:\\/\\/a.example\\/b"}',
        "line https://a.example/b\\nline",
        "a.example/b",
    ],
)
def test_address_is_read_whole_from_any_kind_of_text(text: str) -> None:
    assert "a.example/b" in set(keys_in(text))


def test_escaped_ampersand_is_part_of_the_address() -> None:
    assert "a.example/?b=1&c=2" in set(keys_in("https://a.example/?b=1&amp;c=2"))
    assert "a.example/?b=1&c=2" in set(keys_in('"https://a.example/?b=1\\u0026c=2"'))


def test_page_of_an_issue_is_also_its_short_name() -> None:
    assert "o/r#12" in set(keys_in("https://github.com/o/r/pull/12"))


@pytest.mark.parametrize(
    "address",
    [
        "https://a@b.example",
        "https://\u0435xample.com",
        "https://a%2Eb.example",
        "ftp://a.example",
        "javascript:alert(1)",
        "//a.example",
        "mailto:a@b.example?body=x",
        "https://a.example\\@b.example",
        "",
    ],
)
def test_addresses_of_other_kinds_have_no_key(address: str) -> None:
    assert key_of(address) == ""


def test_live_addresses_were_read_or_are_pages_of_listed_hosts() -> None:
    live = Live(
        {"a.example/b", "xn--a-ecp.example/b", "jira.acme.example/browse/PAY-1?focus=2"}.__contains__,
        frozenset({"jira.acme.example"}),
    )
    assert live("https://a.example/b")
    assert live("https://jira.acme.example/browse/PAY-1#comment")
    assert live("https://jira.acme.example/browse/PAY-1?focus=2")
    dead = [
        "https://a.example/c",
        "https://jira.acme.example/?a=b",
        "https://xn--a-ecp.example/b",
        "https://x.jira.acme.example",
    ]
    assert not list(filter(live, dead))


def test_inert_address_stays_readable() -> None:
    assert inert("https://a.example:8080/b.html") == "a[.]example:8080/b[.]html"
    assert inert("javascript:alert(1)") == "javascript[:]alert(1)"
    assert inert("docs/guide.md") == "docs/guide.md"
    assert not found(inert("ann@a.example"))


def test_host_of_a_url_has_its_port() -> None:
    assert (host_of("http://127.0.0.1:8080/x"), host_of("nothing to see")) == ("127.0.0.1:8080", "")
