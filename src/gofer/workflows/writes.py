"""The key `writes` of a workflow file: where its runs may write besides where they were asked, system by system."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BeforeValidator, Field, create_model

from gofer.workflows.form_parts import Strict, listed, mistake


@dataclass(frozen=True, slots=True)
class NamedPlaces:
    """How texts name places of a system without a link or an id."""

    prose: re.Pattern[str]
    """A name in Markdown, without its sign as the first group."""
    code: re.Pattern[str]
    """A name in a script, in the same way."""
    sign: str
    """What stands before each name."""
    argument: str
    """The argument of tools that takes a name."""


@dataclass(frozen=True, slots=True)
class Listable:
    """The places of one system that a workflow file can list."""

    system: str
    """The key of the system, which its tools begin with."""
    entry: Any
    """The annotation of one entry."""
    description: str
    """What its entries are, for people."""
    example: str
    """A list of entries, as files have it."""
    linked: re.Pattern[str]
    """An id or a link that names a place for certain, with the place as the first group."""
    named: NamedPlaces | None = None
    """How texts name places otherwise; None where they do not."""
    every: str = ""
    """The entry that stands for all public places; empty where there is none."""
    plain: Callable[[str], str] = str.casefold
    """Returns an entry as links have it, in small letters."""


class Destinations(Strict):
    """Where runs may write besides where they were asked."""

    MEMBER: ClassVar[str] = "a system that a workflow can name places of"
    EVERY: ClassVar[Mapping[str, str]] = {}
    """The entry of a system that stands for all its public places."""

    def entries(self, system: str) -> tuple[str, ...]:
        """Return the entries of a system."""
        found: tuple[str, ...] = getattr(self, system, ())
        return found

    def one_by_one(self, system: str) -> tuple[str, ...]:
        """Return the entries of a system that name one place each."""
        return tuple(entry for entry in self.entries(system) if entry != self.EVERY.get(system))

    def lists_all_public(self, system: str) -> bool:
        """Return whether all public places of a system are listed."""
        return self.EVERY.get(system) in self.entries(system)

    @property
    def may_be_private(self) -> bool:
        """Whether an entry may name a private place, in a system that tells them from public ones."""
        return any(self.one_by_one(system) for system in self.EVERY)


def place_entry(pattern: str, *, wrong: str, written: str, named: str) -> object:
    """Return the annotation of an entry that a pattern describes.

    `wrong` says what another text is not, `written` what to write, and `named` what to write in place of a `*`.
    """

    def checked(value: str) -> str:
        refuse_pattern(value, named)
        if not re.fullmatch(pattern, value):
            raise mistake(wrong, written)
        return value

    return Annotated[str, AfterValidator(checked), Field(json_schema_extra={"pattern": f"^{pattern}$"})]


def destinations_form(listable: Sequence[Listable]) -> type[Destinations]:
    """Return the form of the key with one key for each system."""
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
    """Raise the mistake of an entry that holds `*`; the hint says what to write instead."""
    if "*" in value:
        raise mistake(f"`{value[:80]}` holds `*`, which stands for nothing in `writes`.", hint)
