"""Names are found in other spellings and scripts, and many words in as many steps."""

from urllib.parse import quote

import pytest

from gofer.evals.goldens.pseudonyms import Pseudonyms
from gofer.evals.goldens.redaction import Redaction, sensitive_in
from gofer.evals.goldens.sensitive_forms import Sensitive
from gofer.evals.goldens.word_finder import MOST_WORDS, merged
from gofer.values.errors import ConfigError
from support.steps import steps

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
def test_ten_times_as_many_addresses_are_replaced_in_ten_times_as_many_steps(local: str) -> None:
    def replace_addresses(count: int) -> None:
        text = "\n".join(f"{local.format(i)}@corp{i}z.com {quote('Zoë Qu')}" for i in range(count))
        assert local.format(1) not in Redaction(sensitive_in(text), Pseudonyms(b"salt")).text(text)

    # What is kept between two redactions is kept here.
    replace_addresses(2)
    few, many = (steps(lambda count=count: replace_addresses(count)) for count in (50, 500))
    assert many < 11 * few


def test_too_many_words_are_refused() -> None:
    with pytest.raises(ConfigError, match="too large for a golden"):
        merged(Sensitive(f"user{i}", "name", "code") for i in range(MOST_WORDS + 1))
