"""The key `writes`: one key per system with listable destinations, and the entry for all public places."""

import re

import pytest
from pydantic import ValidationError

from gofer.workflows.writes import Listable, destinations_form

BOARDS = Listable("boards", str, "Boards.", example="[shop]", linked=re.compile("x"), every="public")
WIKI = Listable("wiki", str, "Pages of a wiki.", example="[home]", linked=re.compile("x"))
FORM = destinations_form([BOARDS, WIKI])


def test_writes_key_has_one_list_per_system() -> None:
    read = FORM.model_validate({"boards": ["shop", "public"], "wiki": "home"})
    assert (read.entries("boards"), read.entries("wiki"), read.entries("mail")) == (("shop", "public"), ("home",), ())
    assert FORM.LISTED == "The systems are `boards` and `wiki`."
    with pytest.raises(ValidationError):
        FORM.model_validate({"mail": "home"})


def test_writes_entry_for_all_public_places_names_no_single_place() -> None:
    public = FORM.model_validate({"boards": "public", "wiki": "home"})
    assert (public.lists_all_public("boards"), public.lists_all_public("wiki")) == (True, False)
    assert public.one_by_one("boards") == ()
    assert not public.may_be_private
    assert FORM.model_validate({"boards": ["public", "shop"]}).may_be_private
