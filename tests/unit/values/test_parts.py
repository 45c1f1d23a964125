"""The parts of Gofer: their libraries, and the sentence about one that is missing."""

import tomllib
from importlib import import_module
from importlib.metadata import packages_distributions, requires

import pytest

from gofer.app.new_repository.locking import locked
from gofer.sources.connections import CONNECTIONS
from gofer.values.parts import PARTS, how_to_install, is_installed, part_of
from support.app.company import ROOT


def test_parts_equal_the_optional_dependencies() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert extras.pop("all") == [f"gofer[{','.join(sorted(PARTS))}]"]
    assert {*extras} == {*PARTS}


@pytest.mark.parametrize("part", PARTS)
def test_libraries_of_a_part_are_in_its_lock_and_in_no_smaller_one(part: str) -> None:
    lock = (ROOT / "locks" / "runtime.lock").read_text()
    base, whole = (locked(lock, requires("gofer") or (), parts) for parts in ((), (part,)))
    distributions = packages_distributions()
    for library in PARTS[part]:
        (name, *_) = [name.replace("_", "-").lower() for name in distributions[library]]
        assert f"\n{name}==" in f"\n{whole}", library
        assert f"\n{name}==" not in f"\n{base}", library


@pytest.mark.parametrize("part", PARTS)
def test_parts_are_installed_for_development(part: str) -> None:
    assert is_installed(part)


@pytest.mark.parametrize(
    ("module", "part"),
    [("boto3", "aws"), ("botocore.session", "aws"), ("PIL.Image", "files"), ("else", ""), (None, "")],
)
def test_missing_module_belongs_to_its_part(module: str | None, part: str) -> None:
    assert part_of(ModuleNotFoundError("No module", name=module)) == part


def test_sentence_names_the_part_for_both_kinds_of_installations() -> None:
    assert how_to_install("aws") == (
        "install gofer[aws], or add aws to gofer[...] in pyproject.toml and run `gofer upgrade`"
    )


def test_each_connection_names_the_module_with_its_opener() -> None:
    for connection in CONNECTIONS:
        assert callable(import_module(connection.module).connected)
