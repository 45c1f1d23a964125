"""The lock of a repository: exactly the libraries of the chosen parts, with hashes and without addresses.

The lock that Gofer ships has the libraries of all parts. The comments of a lock say which library asks for which.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

_BLOCK = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==.*\n(?:[ \t]+.*\n)*", re.MULTILINE)
_REQUIREMENT = re.compile(r"^([A-Za-z0-9._-]+)")
_EXTRA = re.compile(r"""extra == ['"]([a-z]+)['"]""")


def locked(lock: str, requirements: Sequence[str], parts: Sequence[str]) -> str:
    """Return the part of a lock that the chosen parts need.

    `lock` is a lock of all parts, and `requirements` are those in the metadata of Gofer, such as
    `boto3>=1.44; extra == "aws"`.
    """
    blocks = {name: list(texts) for name, texts in _blocks(lock).items()}
    asked_by = {name: _asked_by("".join(texts)) for name, texts in blocks.items()}
    needed = {_plain(name) for name in _roots(requirements, parts)} & blocks.keys()
    while further := {name for name in blocks if name not in needed and asked_by[name] & needed}:
        needed |= further
    return "".join(_without_comments(text) for name in sorted(needed) for text in blocks[name])


def _blocks(lock: str) -> Mapping[str, Sequence[str]]:
    """Return the entries of each library; several entries hold for different platforms."""
    found: dict[str, list[str]] = {}
    for block in _BLOCK.finditer(lock):
        found.setdefault(_plain(block["name"]), []).append(block[0])
    return found


def _asked_by(block: str) -> frozenset[str]:
    """Return the libraries that ask for the library of an entry."""
    _, _, comment = block.partition("# via")
    return frozenset(_plain(word) for word in re.findall(r"[A-Za-z0-9._-]+", comment))


def _roots(requirements: Sequence[str], parts: Sequence[str]) -> Iterator[str]:
    """Yield the names of the libraries that Gofer itself asks for."""
    for requirement in requirements:
        extra = _EXTRA.search(requirement)
        name = _REQUIREMENT.match(requirement)
        if name is not None and (extra is None or extra[1] in parts):
            yield name[1]


def _without_comments(block: str) -> str:
    return "".join(line for line in block.splitlines(keepends=True) if not line.lstrip().startswith("#"))


def _plain(name: str) -> str:
    """Return a name as package registries compare names."""
    return re.sub(r"[-_.]+", "-", name).lower()
