"""The key `writes` of a workflow file: the destinations of its runs besides the place they were asked in."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from gofer.workflows.form_parts import Strict, listed, mistake


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """The patterns by which texts name places of a system without a link or an id."""

    prose: re.Pattern[str]
    """The pattern of a name in Markdown. Its first group is the name without the sign."""
    code: re.Pattern[str]
    """The pattern of a name in a script, with the same group."""
    sign: str
    """The sign before each name, such as `#`."""
    argument: str
    """The argument of tools that takes such a name."""


@dataclass(frozen=True, slots=True)
class Listable:
    """The places of one system that a workflow file can list."""

    system: str
    """The key of the system, with which the names of its tools begin."""
    entry: Any
    """The annotation of one entry."""
    description: str
    """The description of the entries, for people."""
    example: str
    """An example of a list of entries in a workflow file."""
    linked: re.Pattern[str]
    """The pattern of an unambiguous id or link. Its first group is the place."""
    named: NamedPlaces | None = None
    """The other ways in which texts name places; None if there are none."""
    every: str = ""
    """The entry that stands for all public places; empty if the system has no such entry."""
    readable: Any = None
    """The annotation of an entry of `reads` if it differs; see `entry`."""
    plain: Callable[[str], str] = str.casefold
    """The function that converts an entry to the lower-case form in links."""


class Destinations(Strict):
    """Where the runs may write besides the place they were asked in."""

    MEMBER: ClassVar[str] = "a system in which a workflow can list places"
    EVERY: ClassVar[Mapping[str, str]] = {}
    """The entry that stands for all public places of a system, by system."""

    def entries(self, system: str) -> tuple[str, ...]:
        """Return the entries of a system."""
        found: tuple[str, ...] = getattr(self, system, ())
        return found

    def one_by_one(self, system: str) -> tuple[str, ...]:
        """Return the entries of a system that name one place each."""
        return tuple(entry for entry in self.entries(system) if entry != self.EVERY.get(system))

    def lists_all_public(self, system: str) -> bool:
        """Return whether the entries of a system include all its public places."""
        return self.EVERY.get(system) in self.entries(system)

    @property
    def may_be_private(self) -> bool:
        """Whether an entry may name a private place, in a system with private and public places."""
        return any(self.one_by_one(system) for system in self.EVERY)


def is_unlisted(value: Destinations) -> bool:
    """Return whether a key lists no place. Bundles leave such a key out, so that their hashes stay as they were."""
    return not any(value.model_dump().values())


def place_entry(pattern: str, *, wrong: str, written: str, named: str) -> object:
    """Return the annotation of an entry that matches a pattern.

    `wrong` is the message for any other text, `written` its hint, and `named` the hint for a text that contains `*`.
    """

    def checked(value: str) -> str:
        refuse_pattern(value, named)
        if not re.fullmatch(pattern, value):
            raise mistake(wrong, written)
        return value

    return Annotated[str, AfterValidator(checked), Field(json_schema_extra={"pattern": f"^{pattern}$"})]


def readable_form(listable: Sequence[Listable]) -> type[Destinations]:
    """Return the form of `reads`, with one key for each system."""
    return destinations_form([replace(one, entry=one.readable or one.entry) for one in listable])


def destinations_form(listable: Sequence[Listable]) -> type[Destinations]:
    """Return the form of `writes`, with one key for each system."""
    fields: dict[str, Any] = {one.system: (_entries(one), Field((), description=one.description)) for one in listable}
    form = create_model("Destinations", __base__=Destinations, __doc__=Destinations.__doc__, **fields)
    *others, last = [f"`{one.system}`" for one in listable]
    form.LISTED = f"The systems are {', '.join(others)} and {last}."
    form.EVERY = {one.system: one.every for one in listable if one.every}
    return form


def _entries(one: Listable) -> object:
    entry = one.entry
    return Annotated[tuple[entry, ...], BeforeValidator(listed, json_schema_input_type=entry | tuple[entry, ...])]


def refuse_pattern(value: str, hint: str) -> None:
    """Raise the mistake of an entry that contains `*`."""
    if "*" in value:
        raise mistake(f"`{value[:80]}` contains `*`, but `writes` has no patterns.", hint)
