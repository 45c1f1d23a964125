"""Words that a redaction finds by their form: addresses, numbers, ids, tokens and names of hosts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from gofer.evals.goldens.pseudonyms import Form
from gofer.sources.registry import SOURCES

Bounds = Literal["word", "code", "any"]
"""Where a word is replaced. `word`: between characters that are neither letters, digits nor `_`. `code`: between
characters that are neither letters nor digits. `any`: everywhere, also within other words."""


@dataclass(frozen=True, slots=True)
class Sensitive:
    """A word that a redaction replaces."""

    word: str
    form: Form
    bounds: Bounds


_EMAIL = re.compile(r"(?<![A-Za-z0-9._%+-])([A-Za-z0-9._%+-]{1,64})@((?:[A-Za-z0-9-]{1,63}\.)+[A-Za-z]{2,24})")
_PUBLIC = frozenset(
    {
        "www", "app", "status", "support", "developers", "docs", "gmail", "googlemail", "outlook", "hotmail", "yahoo",
        "icloud", "example", "localhost", "gofer", "com", "org", "net", "gov", "edu", "linkedin", "google", "zoom",
        "office",
    }
)  # fmt: skip
"""Names of hosts that belong to vendors or are reserved; they say nothing about a company."""
_RESERVED = frozenset({"test", "example", "invalid", "localhost"})
"""Top-level domains for tests and documentation."""
_CODES = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]{16,8000}?-----END [A-Z ]*PRIVATE KEY-----"),
    re.compile(r"(?<![A-Za-z0-9])glpat-[\w-]{16,}"),
    re.compile(r"(?<![A-Za-z0-9])(?:sk|pk|rk|gsk|xai|hf|r8|nvapi|tgp|secret|whsec)[-_][A-Za-z0-9_-]{12,}"),
    re.compile(r"(?<![A-Za-z0-9])(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    re.compile(r"(?<![A-Za-z0-9])AIza[\w-]{20,}"),
    re.compile(r"(?<![A-Za-z0-9])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?"),
    # Ids of 128 bits with and without hyphens, and of 96 bits.
    re.compile(r"(?<![A-Za-z0-9:])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}(?![A-Za-z0-9])"),
    re.compile(r"(?<![A-Za-z0-9])(?=[0-9a-f]*[a-f])(?=[a-f]*[0-9])(?:[0-9a-f]{32}|[0-9a-f]{24})(?![A-Za-z0-9])"),
    # Telephone numbers with a country code, or in groups after an area code.
    re.compile(r"(?<![\w+])\+[1-9][0-9](?:[ ()./-]{0,2}[0-9]){6,12}(?![0-9])"),
    re.compile(r"(?<![\w+])\(?0?[2-9][0-9]{2}\)?[ -][0-9]{3}[ -][0-9]{4}(?![0-9])"),
)
_OF_SOURCES = [source.identifying for source in SOURCES.values()]
_COMPANIES = [re.compile(pattern) for words in _OF_SOURCES for pattern in words.companies]
_PEOPLE = [re.compile(pattern) for words in _OF_SOURCES for pattern in words.people]
_SOURCE_CODES = [re.compile(pattern) for words in _OF_SOURCES for pattern in words.codes]
_VENDORS = frozenset(host for words in _OF_SOURCES for host in words.hosts)
_SECRET_FIELD = re.compile(
    r"(?i)(?:password|passwd|passphrase|api[_-]?key|access[_-]?key|client[_-]?secret|auth[_-]?token|bearer)"
    r"[\"']?\s*[:=]?\s*[\"']?([A-Za-z0-9+/_.~=-]*[0-9][A-Za-z0-9+/_.~=-]*)"
)
_LEAST_SECRET = 8
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?(?![A-Za-z0-9])")
_CARD = re.compile(r"(?<![A-Za-z0-9.])[3-6](?:[ -]?[0-9]){12,18}(?![0-9.])")
_IPV4 = re.compile(
    r"(?<![0-9.])(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])\.){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?![0-9.])"
)
_IPV6 = re.compile(r"(?<![0-9A-Za-z:])(?:[0-9a-f]{1,4}:){3,7}(?::?[0-9a-f]{1,4})(?![0-9A-Za-z:])")
_LOCAL = ("127.", "0.", "255.")


def found_by_form(text: str) -> Iterator[Sensitive]:
    """Yield the words of a text that must be replaced because of their form."""
    yield from _addresses(text)
    for pattern in (*_CODES, *_SOURCE_CODES):
        for found in pattern.findall(text):
            yield Sensitive(found, "code", "code")
    for secret in _SECRET_FIELD.findall(text):
        if len(secret) >= _LEAST_SECRET:
            yield Sensitive(secret, "code", "code")
    yield from _numbers(text)


def people_in(text: str) -> Iterator[str]:
    """Yield the names of people that a text for a model holds, as the tools of the sources write it."""
    for pattern in _PEOPLE:
        yield from pattern.findall(text)


def _addresses(text: str) -> Iterator[Sensitive]:
    for local, host in _EMAIL.findall(text):
        # The parts of an address are names; `no-reply` and the like only name a mailbox.
        yield Sensitive(local, "name", "code")
        yield from _company(host)
    for pattern in _COMPANIES:
        for company in pattern.findall(text):
            yield from _label(company)


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
    for number in _IBAN.findall(text):
        if _is_iban(number):
            yield Sensitive(number, "code", "code")
    for number in _CARD.findall(text):
        if _is_card(number):
            yield Sensitive(number, "code", "code")
    for address in (*_IPV4.findall(text), *_IPV6.findall(text)):
        if not address.startswith(_LOCAL):
            yield Sensitive(address, "code", "code")


def _is_iban(number: str) -> bool:
    plain = number.replace(" ", "")
    moved = f"{plain[4:]}{plain[:4]}"
    return int("".join(str(int(char, 36)) for char in moved)) % 97 == 1


def _is_card(number: str) -> bool:
    digits = [int(char) for char in number if char.isdigit()]
    doubled = [sum(divmod(2 * digit, 10)) for digit in digits[-2::-2]]
    return (sum(digits[-1::-2]) + sum(doubled)) % 10 == 0
