"""Mistakes in skills: their format, their scripts, their size, and names of skills that do not exist."""

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
"""The standard modules that the sandbox can import. If it has only some names of a module, they are listed."""
_LISTS = ("required", "allowed", "prohibited")
_LONGEST = 400
"""The most characters of one sentence about a skill."""


def check_skills(folder: Path, skills: dict[str, Skill]) -> Iterator[Mistake]:
    """Yield the mistakes of every skill in `folder`, and add each readable skill to `skills` by name."""
    for home in skill_folders(folder):
        try:
            skill = read_skill(home)
            skills[skill.name] = skill
        except ConfigError as error:
            # The error is one sentence, with the hint in a second sentence for some errors.
            message, _, hint = str(error).removeprefix(f"{skill_file(home)}: ").partition(". ")
            instruction = hint or "docs/write-a-skill.md shows a correct skill."
            sentence = f"{message.removesuffix('.')[:_LONGEST]}."
            yield Mistake(skill_file(home), START, "invalid-skill", sentence, instruction)
        else:
            yield from _scripts(home, skill)


def nameable(folder: Path) -> list[str]:
    """Return the names of all skills in `folder`, including skills with mistakes."""
    return [skill_name(home.name) for home in skill_folders(folder)]


def check_named_skills(known: Sequence[str], source: Source) -> Iterator[Mistake]:
    """Yield the named skills of a workflow that do not exist."""
    for key in _LISTS:
        for at, name in enumerate(as_list(as_object(source.fields.get("skills")).get(key))):
            if isinstance(name, str) and name and name not in known:
                message = f"There is no skill `{name[:80]}`."
                place = source.place(("skills", key, at))
                yield Mistake(source.file, place, "missing-skill", message, _skill_hint(name, known))


def check_amount(source: Source, chosen: Skills, skills: Mapping[str, Skill]) -> Iterator[Mistake]:
    """Yield a mistake when the skills of a workflow or a subagent are too large together."""
    if too_large(chosen, skills):
        message = f"The skills listed here are larger than {SIZE_LIMIT} bytes together, and every run stores a copy."
        yield Mistake(source.file, source.place(("skills",)), "too-large", message, "List fewer in `skills.allowed`.")


def _skill_hint(name: str, known: Sequence[str]) -> str:
    meant = close_match(name, known)
    if meant:
        return f"Write `{meant}`."
    return "Create skills/<name>/SKILL.md, or do without it."


def _scripts(home: Path, skill: Skill) -> Iterator[Mistake]:
    """Yield the mistakes that keep the scripts of a skill from running in the sandbox."""
    for path in skill.files:
        if not (path.startswith(SCRIPTS) and path.endswith(".py")):
            continue
        file = home / path
        try:
            tree = ast.parse(skill.files[path])
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            line = 1
            if isinstance(error, SyntaxError):
                line = error.lineno or 1
            yield Mistake(file, Place(line), "skill-script", "This is not Python.", "Correct it, or remove the file.")
            continue
        for node, name in _missing_imports(tree):
            message = f"The sandbox has no `{name[:80]}`, so this script cannot run."
            hint = f"Remove the import, or move the file out of {SCRIPTS}."
            yield Mistake(file, Place(node.lineno, node.col_offset + 1), "skill-import", message, hint)


def _missing_imports(tree: ast.Module) -> Iterator[tuple[ast.stmt, str]]:
    """Yield the imported modules, and names of modules, that the sandbox does not have."""
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
                missing = [name.name for name in names if name.name == "*" or (known and name.name not in known)]
                yield from ((node, f"from {whole} import {name}") for name in missing)
            case _:
                pass
