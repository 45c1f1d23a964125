"""The skills: whether they have the form of skills, whether their scripts can run, and whether named ones exist."""

import ast
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gofer.values.canonical_json import as_list, as_object
from gofer.values.errors import ConfigError
from gofer.workflows.allowed_skills import SIZE_LIMIT, too_large
from gofer.workflows.frontmatter import skill_name
from gofer.workflows.mistake import START, Mistake, Place
from gofer.workflows.schema import Skills
from gofer.workflows.sentences import close_match
from gofer.workflows.skill import SCRIPTS, Skill, read_skill, skill_file, skill_folders
from gofer.workflows.yaml_source import Source

# fmt: off
SANDBOX_MODULES: Mapping[str, frozenset[str] | None] = {
    "asyncio": frozenset(("gather", "run", "sleep")),
    "collections": frozenset(("Counter", "defaultdict", "deque", "namedtuple")),
    "copy": frozenset(("copy", "deepcopy")),
    "dataclasses": frozenset(("FrozenInstanceError", "MISSING", "dataclass", "field", "is_dataclass")),
    "datetime": frozenset(("date", "datetime", "time", "timedelta", "timezone")),
    "functools": frozenset(("cache", "lru_cache", "partial", "reduce")),
    "json": frozenset(("JSONDecodeError", "dump", "dumps", "load", "loads")),
    "pathlib": frozenset(("Path",)),
    "typing": frozenset((
        "Annotated", "Any", "Callable", "ClassVar", "Dict", "Final", "FrozenSet", "Generator", "Generic", "Iterable",
        "Iterator", "List", "Literal", "Mapping", "Never", "NoReturn", "Optional", "Protocol", "Self", "Sequence",
        "Set", "TYPE_CHECKING", "Tuple", "Type", "TypeVar", "Union",
    )),
    "unicodedata": frozenset((
        "category", "combining", "is_normalized", "lookup", "name", "normalize", "unidata_version",
    )),
    **dict.fromkeys((
        "base64", "binascii", "bisect", "csv", "decimal", "hashlib", "itertools", "math", "os", "os.path", "posixpath",
        "random", "re", "sys", "time", "tomllib",
    )),
}
# fmt: on
"""What Python of the sandbox can import, by module: some of the standard library. Where it has only a few names of one,
they are listed."""
_LISTS = ("required", "allowed", "prohibited")
_LONGEST = 400
"""Characters of one sentence about a skill at most."""


def check_skills(folder: Path, skills: dict[str, Skill]) -> Iterator[Mistake]:
    """Yield what is wrong with the skills of `folder` themselves, whether or not a workflow has them.

    Those that can be read are in `skills` afterwards, by name.
    """
    for home in skill_folders(folder):
        try:
            skill = read_skill(home)
            skills[skill.name] = skill
        except ConfigError as error:
            # A sentence, and for some what to do about it in another.
            message, _, hint = str(error).removeprefix(f"{skill_file(home)}: ").partition(". ")
            told = hint or "docs/write-a-skill.md shows one."
            said = f"{message.removesuffix('.')[:_LONGEST]}."
            yield Mistake(skill_file(home), START, "invalid-skill", said, told)
        else:
            yield from _scripts(home, skill)


def nameable(folder: Path) -> list[str]:
    """Return the names of all skills of `folder`, also of those with mistakes."""
    return [skill_name(home.name) for home in skill_folders(folder)]


def check_named_skills(known: Sequence[str], source: Source) -> Iterator[Mistake]:
    """Yield skills that a workflow names and that are not there."""
    for key in _LISTS:
        for at, name in enumerate(as_list(as_object(source.fields.get("skills")).get(key))):
            if isinstance(name, str) and name and name not in known:
                message = f"There is no skill `{name[:80]}`."
                place = source.place(("skills", key, at))
                yield Mistake(source.file, place, "missing-skill", message, _instead(name, known))


def check_amount(source: Source, chosen: Skills, skills: Mapping[str, Skill]) -> Iterator[Mistake]:
    """Yield skills of a workflow, or of a subagent, that are too much for every one of its runs to keep."""
    if too_large(chosen, skills):
        message = f"The skills named here have more than {SIZE_LIMIT} bytes, and every run keeps them."
        yield Mistake(source.file, source.place(("skills",)), "too-large", message, "Name fewer in `skills.allowed`.")


def _instead(name: str, known: Sequence[str]) -> str:
    meant = close_match(name, known)
    if meant:
        return f"Write `{meant}`."
    return "Create skills/<name>/SKILL.md, or do without it."


def _scripts(home: Path, skill: Skill) -> Iterator[Mistake]:
    """Yield what keeps the Python of a skill from running in the sandbox."""
    for path in skill.files:
        if not (path.startswith(SCRIPTS) and path.endswith(".py")):
            continue
        file = home / path
        try:
            tree = ast.parse(skill.files[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = error.lineno or 1 if isinstance(error, SyntaxError) else 1
            yield Mistake(file, Place(line), "skill-script", "This is not Python.", "Correct it, or remove the file.")
            continue
        for node, what in _lacking(tree):
            message = f"The sandbox has no `{what[:80]}`, so that this script cannot run."
            hint = f"Do without it, or keep the file outside of {SCRIPTS}."
            yield Mistake(file, Place(node.lineno, node.col_offset + 1), "skill-import", message, hint)


def _lacking(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Yield what a script imports that is not there: modules, and names of modules."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node, name.name) for name in names if name.name not in SANDBOX_MODULES)
            case ast.ImportFrom(module=module, level=level, names=names) if module != "__future__":
                whole = f"{'.' * level}{module or ''}"
                if whole not in SANDBOX_MODULES:
                    yield node, whole
                    continue
                known = SANDBOX_MODULES[whole]
                lacking = [name.name for name in names if name.name == "*" or (known and name.name not in known)]
                yield from ((node, f"from {whole} import {name}") for name in lacking)
            case _:
                pass
