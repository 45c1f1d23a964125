"""Names of emoji: several names of one emoji, and names in any script."""

from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.values.emoji_names import LONGEST, NAMES, names_of, spelled

KNOWN = {*files("gofer_simulators.slack").joinpath("emoji.txt").read_text("utf-8").split()}
SHOWN = {"white_tick", "heavy_tick", "ballot_box_with_tick", "negative_squared_tick", "squirrel", "shipit"}
SHOWN |= {"white_square", "black_square"}


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("thumbsup", ["+1", "thumbsup"]),
        ("+1::skin-tone-3", ["+1::skin-tone-3", "thumbsup::skin-tone-3"]),
        ("poop", ["hankey", "poop", "shit"]),
        ("uk", ["gb", "uk", "flag-gb"]),
        ("tada", ["tada"]),
        ("対応済み", ["対応済み"]),
    ],
)
def test_each_name_of_an_emoji_leads_to_all_its_names(name: str, names: list[str]) -> None:
    assert names_of(name) == names


def test_each_emoji_with_several_names_is_one_of_slack() -> None:
    assert {name for name in NAMES if not name.startswith("flag-")} - SHOWN <= KNOWN
    assert all(NAMES[names[0]] == names for names in NAMES.values())


@given(st.text())
def test_spelled_names_keep_sentences_whole(text: str) -> None:
    name = spelled(text)
    assert len(name) <= LONGEST
    assert spelled(name) == name
    assert not any(char.isspace() or char in ':`*<>[]()"\\' for char in name)
