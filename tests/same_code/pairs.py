"""Pairs of statements before and after a change, with their renamed and reworded parts."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from same_code.statements import IDENTIFIERS, Statement

Change = tuple[str, str]
"""The old and the new word."""


@dataclass(frozen=True)
class Pair:
    """One statement before and after."""

    before: Statement
    after: Statement
    renamed: Counter[Change]
    """Every name in it with its new name, also where both are the same."""
    reworded: Counter[Change]
    """Texts of strings that differ."""


@dataclass
class Paired:
    """All statements of two states."""

    pairs: list[Pair] = field(default_factory=list)
    removed: list[Statement] = field(default_factory=list)
    added: list[Statement] = field(default_factory=list)


def paired(before: Sequence[Statement], after: Sequence[Statement]) -> Paired:
    """Pair equal statements; the remaining ones differ in more than names, texts and places.

    A statement that says the same may be repeated, or joined with its like, where a file is divided or joined.
    """
    found = Paired()
    old = _Pool(before)
    new = _Pool(after)
    for key in (_same_place, _same_text, _same_name):
        _take(found, old, new, key)
    _take_alike(found, old, new)
    said_before = {statement.exact for statement in before}
    said_after = {statement.exact for statement in after}
    found.removed = [one for one in old.left() if not _is_spare(one, said_after)]
    found.added = [one for one in new.left() if not _is_spare(one, said_before)]
    return found


class _Pool:
    """Statements that have no partner yet."""

    def __init__(self, statements: Iterable[Statement]) -> None:
        self._left = dict.fromkeys(map(id, statements))
        self._statements = list(statements)

    def left(self) -> list[Statement]:
        return [one for one in self._statements if id(one) in self._left]

    def remove(self, statement: Statement) -> None:
        del self._left[id(statement)]


def _same_place(statement: Statement) -> tuple[str, ...]:
    return statement.file, statement.name, statement.skeleton


def _same_text(statement: Statement) -> tuple[str, ...]:
    return (statement.exact,)


def _same_name(statement: Statement) -> tuple[str, ...]:
    return statement.name, statement.skeleton


def _take(found: Paired, old: _Pool, new: _Pool, key) -> None:
    """Pair statements of one key in their order."""
    partners: dict[tuple[str, ...], list[Statement]] = defaultdict(list)
    for statement in new.left():
        partners[key(statement)].append(statement)
    for statement in old.left():
        waiting = partners[key(statement)]
        if waiting and (pair := _pair(statement, waiting[0])):
            found.pairs.append(pair)
            old.remove(statement)
            new.remove(waiting.pop(0))


def _take_alike(found: Paired, old: _Pool, new: _Pool) -> None:
    """Pair statements of one form: those whose files had most in common first, then those that share most names."""
    moves = Counter((pair.before.file, pair.after.file) for pair in found.pairs)
    by_form: dict[str, list[Statement]] = defaultdict(list)
    for statement in new.left():
        by_form[statement.skeleton].append(statement)
    for statement in old.left():
        best: Pair | None = None
        for partner in by_form[statement.skeleton]:
            pair = _pair(statement, partner)
            if pair and (best is None or _likeness(pair, moves) > _likeness(best, moves)):
                best = pair
        if best is not None:
            found.pairs.append(best)
            old.remove(statement)
            new.remove(best.after)
            by_form[statement.skeleton].remove(best.after)


def _likeness(pair: Pair, moves: Counter[Change]) -> tuple[int, int]:
    kept = sum(count for (was, is_), count in pair.renamed.items() if was == is_)
    return kept - sum(pair.reworded.values()), moves[pair.before.file, pair.after.file]


def _pair(before: Statement, after: Statement) -> Pair | None:
    """Return the two as a pair, or None where their names do not correspond one to one."""
    if before.skeleton != after.skeleton:
        return None
    pair = Pair(before, after, Counter(), Counter())
    _walk(before.node, after.node, pair)
    names = set(pair.renamed)
    one_to_one = len({was for was, _ in names}) == len(names) == len({is_ for _, is_ in names})
    return pair if one_to_one else None


def _walk(before: ast.AST, after: ast.AST, pair: Pair) -> None:
    if isinstance(before, ast.JoinedStr) and isinstance(after, ast.JoinedStr):
        _walk_text(before, after, pair)
        return
    for name in before._fields:
        old = getattr(before, name, None)
        new = getattr(after, name, None)
        for was, is_ in zip(_listed(old), _listed(new), strict=True):
            if isinstance(was, ast.AST) and isinstance(is_, ast.AST):
                _walk(was, is_, pair)
            elif name in IDENTIFIERS and isinstance(was, str):
                pair.renamed[was, str(is_)] += 1


def _walk_text(before: ast.JoinedStr, after: ast.JoinedStr, pair: Pair) -> None:
    was, is_ = _text(before), _text(after)
    if was != is_:
        pair.reworded[was, is_] += 1
    old = before.values[1:]
    new = after.values[1:]
    if [*map(ast.dump, old)] != [*map(ast.dump, new)]:
        # A reworded sentence may have another word order.
        old = sorted(old, key=ast.dump)
        new = sorted(new, key=ast.dump)
    for one, other in zip(old, new, strict=True):
        _walk(one, other, pair)


def _text(node: ast.JoinedStr) -> str:
    first = node.values[0]
    return str(first.value) if isinstance(first, ast.Constant) else ""


def _listed(value: object) -> Iterator[object]:
    if isinstance(value, list):
        yield from value
    else:
        yield value


def _is_spare(statement: Statement, said: set[str]) -> bool:
    """Return whether a statement is a plain assignment that the other state has too."""
    return isinstance(statement.node, ast.Assign | ast.AnnAssign) and statement.exact in said
