"""Names are found in other spellings and scripts, and many words take little time."""

import time
from urllib.parse import quote

import pytest

from gofer.evals.goldens.pseudonyms import Pseudonyms
from gofer.evals.goldens.redaction import Redaction, sensitive_in
from gofer.evals.goldens.sensitive_forms import Sensitive
from gofer.evals.goldens.word_finder import MOST_WORDS, merged
from gofer.values.errors import ConfigError

FORMS = {
    "decomposed": ("Zoë Müller", "Zoe\u0308 Mu\u0308ller", "ller"),
    "composed": ("Zoe\u0308 Mu\u0308ller", "Zoë Müller", "ller"),
    "without accents": ("Zoë Müller", "zoe muller", "zoe"),
    "written out": ("Zoë Müller", "Zoe Mueller", "mueller"),
    "sharp s": ("Jo Weiß", "JO WEISS", "weiss"),
    "genitive": ("Quimby", "Quimbys laptop", "quimby"),
    "handle": ("Zora Quimby", "zoraquimby", "quimby"),
    "Chinese": ("山田太郎", "今日は山田太郎さんが", "太郎"),
    "Hangul": ("김민수", "김민수가 말했다", "민수"),
    "dotless": ("Işık", "IŞIK, ışık", "şı"),
    "after percent": ("Zora", "x%20Zora%2Cy", "Zora"),
    "in percent": ("Zora", "%5Aora %5a%6fra", "%5a"),
    "after an escape": ("Zora", r"x\nZora\tsaid", "Zora"),
    "escaped twice": ("Zoë", r"\\u005ao\\u00EB", "u005a"),
    "in HTML": ("Zoë", "Zo&euml; Zo&#235;", "Zo"),
}


@pytest.mark.parametrize("form", FORMS)
def test_name_is_replaced_in_another_form(form: str) -> None:
    name, text, left = FORMS[form]
    made = Redaction([Sensitive(name, "name", "code")], Pseudonyms(b"salt")).text(text)
    assert left.lower() not in made.lower()
    assert made != text


def test_characters_around_an_encoded_name_stay() -> None:
    made = Redaction([Sensitive("Zoë", "name", "code")], Pseudonyms(b"salt")).text("a%2fb%2F%5Ao%c3%ab%2f100%")
    assert made.startswith("a%2fb%2F%")
    assert made.endswith("%2f100%")
    assert len(made) == len("a%2fb%2F%5Ao%c3%ab%2f100%")


@pytest.mark.parametrize("local", ["first{0}q.last{0}w", "first.last{0}"])
def test_two_thousand_addresses_are_replaced_in_two_seconds(local: str) -> None:
    text = "\n".join(f"{local.format(i)}@corp{i}z.com {quote('Zoë Qu')}" for i in range(2_000))
    started = time.process_time()
    made = Redaction(sensitive_in(text), Pseudonyms(b"salt")).text(text)
    assert time.process_time() - started < 2
    assert local.format(1) not in made


def test_too_many_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="too large for a golden"):
        merged(Sensitive(f"user{i}", "name", "code") for i in range(MOST_WORDS + 1))
