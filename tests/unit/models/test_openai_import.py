"""The `openai` package as Gofer imports it has the same names as the whole one, and loads few of its modules."""

import json
import subprocess
import sys

import pytest

WHOLE = "import openai"
AS_NEEDED = "from gofer.models.openai_import import import_openai; import_openai('openai')"
NAMES = """
import importlib, json
names = {}
for package in ("openai.types", "openai.types.chat", "openai.types.responses", "openai.types.shared"):
    module = importlib.import_module(package)
    for name in dir(module):
        value = getattr(module, name)
        if not name.startswith("_") and not isinstance(value, type(json)) and name != "annotations":
            names[f"{package}.{name}"] = f"{getattr(value, '__module__', '')} {getattr(value, '__qualname__', value)}"
print(json.dumps(names))
"""


def said(*lines: str) -> str:
    """Return the output of a program in a fresh process."""
    return subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_types_have_the_same_names_and_classes_as_in_the_whole_package() -> None:
    whole, later = (json.loads(said(way, NAMES)) for way in (WHOLE, AS_NEEDED))
    assert len(whole) > 300
    assert later == whole


def test_import_loads_neither_most_types_nor_aiohttp_and_leaves_no_finder() -> None:
    tell = "import sys; before = list(sys.meta_path)"
    end = (
        "print(sys.meta_path == before, 'aiohttp' in sys.modules, sum(n[:13] == 'openai.types.' for n in sys.modules))"
    )
    same, aiohttp, types = said(tell, AS_NEEDED, end).split()
    assert (same, aiohttp) == ("True", "False")
    assert int(types) < 100


@pytest.mark.parametrize("name", ["nothing_of_this_name", "__wrapped__"])
def test_unknown_name_of_a_package_is_an_attribute_error(name: str) -> None:
    line = f"import openai.types; print(getattr(openai.types, {name!r}, 'unknown'))"
    assert said(AS_NEEDED, line) == "unknown"


def test_name_that_cannot_be_imported_says_so() -> None:
    program = "try:\n    from openai.types import Nothing\nexcept ImportError as error:\n    print(error)"
    assert said(AS_NEEDED, program).startswith("cannot import name 'Nothing' from 'openai.types'")
