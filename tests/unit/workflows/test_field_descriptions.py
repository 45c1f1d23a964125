"""Descriptions of keys, read from the docstrings in the source of their forms."""

import sys
from types import ModuleType
from typing import Annotated

from pydantic import Field, create_model

from gofer.workflows.field_descriptions import DescribedSchema, description_of
from gofer.workflows.form_parts import Strict


class Inner(Strict):
    """A part."""

    size: int = 1
    """How large it is,
    in pages."""


class Outer(Strict):
    """A whole."""

    inner: Inner = Inner()
    """The part."""
    named: Annotated[int, Field(alias="other-name")] = 0
    """Another name."""
    told: int = Field(0, description="As the field says.")
    """As the docstring says."""
    bare: int = 0


class Heir(Outer):
    """A whole with more."""

    more: int = 0
    """What is more."""


def test_field_description_is_the_docstring_below_the_field() -> None:
    assert description_of(Inner, "size") == "How large it is,\nin pages."
    assert description_of(Outer, "bare") == ""


def test_explicit_field_description_wins_over_the_docstring() -> None:
    assert description_of(Outer, "told") == "As the field says."


def test_inherited_field_keeps_the_docstring_of_the_base_form() -> None:
    made = create_model("Outer", __base__=Outer, inner=(Inner, Inner(size=2)))
    assert [description_of(form, "inner") for form in (Heir, made)] == ["The part.", "The part."]
    assert description_of(Heir, "more") == "What is more."


def test_json_schema_holds_the_descriptions_of_nested_forms() -> None:
    schema = Outer.model_json_schema(schema_generator=DescribedSchema)
    assert schema["$defs"]["Inner"]["properties"]["size"]["description"] == "How large it is,\nin pages."
    described = {name: part.get("description") for name, part in schema["properties"].items()}
    assert described == {
        "inner": "The part.",
        "other-name": "Another name.",
        "told": "As the field says.",
        "bare": None,
    }


def test_form_without_source_has_no_field_descriptions() -> None:
    module = ModuleType("compiled")
    sys.modules["compiled"] = module
    try:
        exec("class Form(Strict):\n    size: int = 1\n", {"__name__": "compiled", "Strict": Strict}, vars(module))
        assert description_of(vars(module)["Form"], "size") == ""
    finally:
        del sys.modules["compiled"]
