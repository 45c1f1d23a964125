"""Words that a redaction finds by their form: addresses, numbers, ids, tokens and names of hosts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv6Address
from typing import Literal

from gofer.evals.goldens.pseudonyms import Form
from gofer.evals.goldens.secret_forms import secrets_in
from gofer.sources.registry import SOURCES

Bounds = Literal["mailbox", "word", "code", "any"]
"""Where a word is replaced. `mailbox`: before `@`. `word`: between characters that are neither letters, digits nor
`_`. `code`: between characters that are neither letters nor digits. `any`: everywhere, also within other words."""


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A word that a redaction replaces."""

    word: str
    form: Form
    bounds: Bounds


_EMAIL = re.compile(
    r"(?<![\w.%+'-])(?:\"(?P<quoted>[^\"\n]{1,64})\"|(?P<plain>[\w.%+'-]{1,64}))@"
    r"(?P<host>(?:[^\W_](?:[\w-]{0,62})\.)+[^\W\d_]{2,24})"
)
_PUBLIC = frozenset(
    {
        "www", "app", "status", "support", "developers", "docs", "gmail", "googlemail", "outlook", "hotmail", "yahoo",
        "icloud", "example", "localhost", "gofer", "com", "org", "net", "gov", "edu", "linkedin", "google", "zoom",
        "office",
    }
)  # fmt: skip
"""Names of hosts that belong to vendors or are reserved; they say nothing about a company."""
_MAILBOXES = frozenset(
    {
        "git", "noreply", "donotreply", "info", "hello", "hi", "support", "admin", "administrator", "contact", "help",
        "sales", "team", "billing", "security", "abuse", "postmaster", "webmaster", "hostmaster", "root", "office",
        "jobs", "careers", "press", "legal", "privacy", "service", "services", "mail", "email", "notifications",
        "notification", "alerts", "news", "newsletter", "feedback", "accounts", "accounting", "orders", "marketing",
        "dev", "test", "user", "ops", "it", "hr", "kontakt", "buero", "bot", "reply", "bounce", "bounces",
    }
)  # fmt: skip
"""Mailboxes that are no names of people. They are ordinary words elsewhere."""
_RESERVED = frozenset({"test", "example", "invalid", "localhost"})
"""Top-level domains for tests and documentation."""
_CODES = (
    # Ids of 128 bits with and without hyphens, and of 96 bits.
    re.compile(r"(?<![A-Za-z0-9:])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![A-Za-z0-9])"),
    re.compile(r"(?<![A-Za-z0-9])(?=[0-9a-f]*[a-f])(?=[a-f]*[0-9])(?:[0-9a-f]{32}|[0-9a-f]{24})(?![A-Za-z0-9])"),
    # Telephone numbers with a country code, or in groups after an area code.
    re.compile(r"(?<![\w+])\+[1-9][0-9](?:[ ()./-]{0,3}[0-9]){6,12}(?![0-9])"),
    re.compile(r"(?<![\w+.-])\(?0?[2-9][0-9]{2}\)?[ .-][0-9]{3}[ .-][0-9]{4}(?![0-9]|\.[0-9])"),
    # Telephone numbers of one country: an area code that begins with 0.
    re.compile(
        r"(?<![\w+.,:/-])\(?0[1-9][0-9]{1,4}\)?(?: ?[/.-] ?| )[0-9]{3,10}(?:[ -][0-9]{2,8}){0,4}(?![\w]|[.:,-][0-9])"
    ),
)
_OF_SOURCES = [source.identifying for source in SOURCES.values()]
_COMPANIES = [re.compile(pattern) for words in _OF_SOURCES for pattern in words.companies]
_PEOPLE = [re.compile(pattern) for words in _OF_SOURCES for pattern in words.people]
_SOURCE_CODES = [re.compile(pattern) for words in _OF_SOURCES for pattern in words.codes]
_VENDORS = frozenset(host for words in _OF_SOURCES for host in words.hosts)
_IBAN = re.compile(r"(?i)(?<![a-z0-9])[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,3})?(?![a-z0-9])")
_CARD = re.compile(r"(?<![A-Za-z0-9.])[3-6](?:[ -]?[0-9]){12,18}(?![0-9.])")
_IPV4 = re.compile(
    r"(?<![0-9.])(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?![0-9.])"
)
_IPV6 = re.compile(r"(?i)(?<![0-9a-z:])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![0-9a-z:])")
_LEAST_IPV6 = 5
"""The digits of the shortest address; `::1` and the like name every machine."""
_LEAST_IBAN = 15
_LOCAL = ("127.", "0.", "255.")


def found_by_form(text: str) -> Iterator[Sensitive]:
    """Yield the words of a text that must be replaced because of their form."""
    yield from _addresses(text)
    for pattern in (*_CODES, *_SOURCE_CODES):
        for found in pattern.findall(text):
            yield Sensitive(found, "code", "code")
    for secret in secrets_in(text):
        yield Sensitive(secret, "code", "code")
    yield from _numbers(text)


def people_in(text: str) -> Iterator[str]:
    """Yield the names of people that a text for a model holds, as the tools of the sources write it."""
    for pattern in _PEOPLE:
        yield from pattern.findall(text)


def _addresses(text: str) -> Iterator[Sensitive]:
    for found in _EMAIL.finditer(text):
        local = (found["quoted"] or found["plain"]).strip("'")
        if any(char.isalnum() for char in local):
            yield Sensitive(local, "name", _bounds(local))
        yield from _company(found["host"])
    for pattern in _COMPANIES:
        for company in pattern.findall(text):
            yield from _label(company)


def _bounds(local: str) -> Bounds:
    if re.sub(r"[._+-]", "", local.lower()) in _MAILBOXES:
        return "mailbox"
    return "code"


def _company(host: str) -> Iterator[Sensitive]:
    *labels, top = host.lower().split(".")
    if top in _RESERVED:
        return
    for label in labels:
        yield from _label(label)


def _label(label: str) -> Iterator[Sensitive]:
    if label.lower() not in _PUBLIC | _VENDORS and len(label) > 2:
        yield Sensitive(label, "name", "code")


def _numbers(text: str) -> Iterator[Sensitive]:
    for written in _IBAN.findall(text):
        yield from (Sensitive(number, "code", "code") for number in _ibans(written))
    for number in _CARD.findall(text):
        if _is_card(number):
            yield Sensitive(number, "code", "code")
    for address in _IPV4.findall(text):
        if not address.startswith(_LOCAL):
            yield Sensitive(address, "code", "code")
    for address in _IPV6.findall(text):
        if _is_ipv6(address):
            yield Sensitive(address, "code", "code")


def _is_ipv6(address: str) -> bool:
    if sum(char.isalnum() for char in address) < _LEAST_IPV6:
        return False
    try:
        IPv6Address(address)
    except ValueError:
        return False
    return True


def _ibans(written: str) -> Iterator[str]:
    """Yield the account number at the beginning of a text, behind which short words may stand."""
    groups = re.split(r"(?=[ -])", written)
    for end in range(len(groups), 0, -1):
        number = "".join(groups[:end])
        if len(number) >= _LEAST_IBAN and _is_iban(number):
            yield number
            return


def _is_iban(number: str) -> bool:
    plain = number.replace(" ", "").replace("-", "")
    moved = f"{plain[4:]}{plain[:4]}"
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _is_card(number: str) -> bool:
    digits = [int(char) for char in number if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
