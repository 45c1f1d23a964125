"""The installation key and the other keys that are recognised beside it."""

import pytest

from gofer.values.installation_key import InstallationKey, read_installation_key
from gofer.values.row_tokens import Tokens
from gofer.values.secret import Secret

ONE, TWO, THREE = ("1" * 64, "2" * 64, "3" * 64)


def revealed(text: str) -> list[str]:
    return [key.reveal() for key in read_installation_key(text).every]


def test_first_key_of_a_list_is_the_current_one() -> None:
    assert revealed(f" {ONE}\n") == [ONE]
    assert revealed(f"{TWO}, {ONE},{THREE}\n") == [TWO, ONE, THREE]
    assert read_installation_key(f"{TWO},{ONE}").current.reveal() == TWO


@pytest.mark.parametrize(
    "text", ["", ",", f"{ONE},", f",{ONE}", f"{ONE},{ONE}", f"{ONE},short", f"{ONE} {TWO}", ONE[:-1], "G" * 64]
)
def test_damaged_list_of_installation_keys_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="64 hex digits"):
        read_installation_key(text)


def test_installation_without_a_key_cannot_be_made() -> None:
    for wrong in ((Secret(""), ()), (Secret(ONE), (Secret(""),))):
        with pytest.raises(ValueError, match="no key"):
            InstallationKey(*wrong)


def test_tokens_under_every_key_equal_the_tokens_of_each_key_alone() -> None:
    alone = [Tokens(read_installation_key(key)).conversation("slack:T:C:1") for key in (TWO, ONE)]
    both = Tokens(read_installation_key(f"{TWO},{ONE}"))
    assert [one.conversation("slack:T:C:1") for one in both.every] == alone
    assert both.conversation("slack:T:C:1") == alone[0]
