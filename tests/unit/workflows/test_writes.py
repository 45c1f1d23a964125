"""The key `writes`: one key for each system that can be listed, and what stands for all public places."""

import re

import pytest
from pydantic import ValidationError

from gofer.workflows.writes import Listable, destinations_form

BOARDS = Listable("boards", str, "Boards.", example="[shop]", linked=re.compile("x"), every="public")
WIKI = Listable("wiki", str, "Pages of a wiki.", example="[home]", linked=re.compile("x"))
FORM = destinations_form([BOARDS, WIKI])


def test_each_system_has_a_key_and_a_single_entry_is_a_list_of_one() -> None:
    read = FORM.model_validate({"boards": ["shop", "public"], "wiki": "home"})
    assert (read.entries("boards"), read.entries("wiki"), read.entries("mail")) == (("shop", "public"), ("home",), ())
    assert FORM.LISTED == "The systems are `boards` and `wiki`."
    with pytest.raises(ValidationError):
        FORM.model_validate({"mail": "home"})


def test_the_entry_for_all_public_places_names_no_place() -> None:
    public = FORM.model_validate({"boards": "public", "wiki": "home"})
    assert (public.lists_all_public("boards"), public.lists_all_public("wiki")) == (True, False)
    assert public.one_by_one("boards") == ()
    assert not public.may_be_private
    assert FORM.model_validate({"boards": ["public", "shop"]}).may_be_private
