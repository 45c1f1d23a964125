"""The draft of a script: the common path of the runs as Python, with one question for the judgements left."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from gofer.learning.promotion import python_text
from gofer.learning.promotion.judgements import JudgedField
from gofer.learning.promotion.origins import Absent, Constant, Judged, Listed, Origin, Taken, Template, references_of
from gofer.learning.promotion.promotion import PromotedStep, Promotion
from gofer.learning.promotion.python_text import Spot
from gofer.learning.promotion.references import Path, Reference, pattern_words
from gofer.learning.promotion.templates import Part
from gofer.values.amounts import counted

_RESERVED = frozenset({"run", "json", "re", "body", "decided", "question", "item", "number", "coordinate", "part_of"})
_ITEM = Reference("item")
"""The current item of a loop itself."""
_PART_OF = '''


def part_of(text: str, pattern: str) -> str:
    """Return the part of a text that a pattern finds. Raises ValueError, which ends the run, for another text."""
    found = re.search(pattern, text, re.MULTILINE)
    if found is None:
        raise ValueError("the text has not the form that the recorded runs had")
    return found[1]'''


@dataclass(slots=True)
class _Names:
    """The names of the variables of a script."""

    values: dict[Reference, str] = field(default_factory=dict[Reference, str])
    results: dict[int, str] = field(default_factory=dict[int, str])
    taken: set[str] = field(default_factory=set[str])

    def new(self, words: str) -> str:
        """Return a name that is not taken, and take it."""
        name = python_text.identifier(words, self.taken | _RESERVED)
        self.taken.add(name)
        return name


def script_text(promotion: Promotion, fields: Sequence[JudgedField], subagent: str) -> str:
    """Return the source of the script; `subagent` is the name of the subagent that decides the fields."""
    return _Draft(promotion, fields, subagent).text()


class _Draft:
    """The draft of one script."""

    def __init__(self, promotion: Promotion, fields: Sequence[JudgedField], subagent: str) -> None:
        self._promotion = promotion
        self._fields = {(one.step, one.argument): one for one in fields}
        self._subagent = subagent
        self._names = _Names()
        self._used = self._references()
        self._name_values()

    def text(self) -> str:
        """Return the source."""
        body = list(self._body())
        code = "\n".join(body)
        imports = [f"import {name}" for name in ("json", "re") if f"{name}." in code or self._needs(name)]
        head = [f'"""{self._summary()}"""', ""]
        if imports:
            head += [*imports, ""]
        head += ["from gofer.coordinator import Run", "", ""]
        head += ["async def coordinate(run: Run) -> str | None:", f'    """{self._doc()}"""']
        tail = _PART_OF if self._needs("re") else ""
        return "\n".join([*head, *body]) + tail + "\n"

    def _needs(self, module: str) -> bool:
        return module == "re" and any(reference.pattern for reference in self._used)

    def _summary(self) -> str:
        runs = counted(len(self._promotion.path.runs), "recorded run")
        return f"The script of {self._promotion.workflow}, drafted from {runs} until {self._promotion.until}."

    def _doc(self) -> str:
        following = len(self._promotion.path.following)
        of = len(self._promotion.path.runs)
        return f"Make the calls that {following} of {of} recorded runs made in this order."

    def _references(self) -> Sequence[Reference]:
        """Return the values that the script reads, each once."""
        origins = [found.origin for step in self._promotion.steps for found in step.arguments.values()]
        found = [
            reference for origin in [*origins, self._promotion.answer.origin] for reference in references_of(origin)
        ]
        lists = [step.step.loop.items for step in self._promotion.steps if step.step.loop is not None]
        return list(dict.fromkeys([*found, *lists]))

    def _name_values(self) -> None:
        for number in range(len(self._promotion.steps)):
            if self._is_read(number):
                self._names.results[number] = self._names.new(self._promotion.steps[number].step.tool.split("_")[-1])
        for reference in self._used:
            if reference == _ITEM:
                self._names.values[reference] = "item"
            else:
                self._names.values[reference] = self._names.new(self._value_words(reference))

    def _value_words(self, reference: Reference) -> str:
        words = [part for part in reference.path if isinstance(part, str)]
        last = words[-1] if words else "text"
        if reference.pattern:
            last = pattern_words(reference.pattern)
        if reference.source == "result":
            return f"{self._names.results[reference.step]} {last}"
        return last

    def _is_read(self, number: int) -> bool:
        """Return whether the script needs the result of a step: for a value, or for the question."""
        if any(reference.source == "result" and reference.step == number for reference in self._used):
            return True
        loop = self._promotion.steps[number].step.loop
        return loop is None and 0 <= number < self._first_judged()

    def _first_judged(self) -> int:
        """Return the number of steps before the question; 0 without a question."""
        if not self._fields:
            return 0
        steps = [one.step for one in self._fields.values() if one.step >= 0]
        return min(steps, default=len(self._promotion.steps))

    def _body(self) -> Iterator[str]:
        yield from self._event_lines()
        asked = not self._fields
        for number, promoted in enumerate(self._promotion.steps):
            if not asked and number == self._first_judged():
                yield from self._question()
                asked = True
            yield from self._step(number, promoted)
        if not asked:
            yield from self._question()
        yield f"    return {self._answer()}"

    def _event_lines(self) -> Iterator[str]:
        if any(reference.source == "body" for reference in self._used):
            yield "    body = json.loads(run.event.text)"
        for reference in self._used:
            if reference.source not in ("result", "item"):
                yield f"    {self._names.values[reference]} = {_expression(reference, _root(reference))}"

    def _question(self) -> Iterator[str]:
        yield "    # These values were judgements of the model in the recorded runs."
        yield "    question = {"
        yield '        "event": {"text": run.event.text, "facts": dict(run.event.facts)},'
        for number in range(self._first_judged()):
            tool = self._promotion.steps[number].step.tool
            if number in self._names.results:
                name = python_text.quoted(f"call {number + 1} {tool}")
                yield f"        {name}: {self._names.results[number]},"
        yield "    }"
        name = python_text.quoted(self._subagent)
        yield f"    decided = json.loads(await run.subagent({name}, json.dumps(question, indent=1)))"

    def _step(self, number: int, promoted: PromotedStep) -> Iterator[str]:
        loop = promoted.step.loop
        if loop is None:
            yield from self._call(number, promoted, indent=4)
            yield from self._result_lines(number)
            return
        items = self._names.values[loop.items]
        judged = any(one.each for (step, _), one in self._fields.items() if step == number)
        if judged:
            yield f"    for number, item in enumerate({items}):"
        else:
            yield f"    for item in {items}:"
        for reference in self._used:
            if reference.source == "item" and reference != _ITEM and reference in self._read_by(promoted):
                yield f"        {self._names.values[reference]} = {_expression(reference, 'item')}"
        yield from self._call(number, promoted, indent=8)

    def _read_by(self, promoted: PromotedStep) -> set[Reference]:
        return {reference for found in promoted.arguments.values() for reference in references_of(found.origin)}

    def _call(self, number: int, promoted: PromotedStep, indent: int) -> Sequence[str]:
        arguments = [python_text.quoted(promoted.step.tool)]
        for name, found in promoted.arguments.items():
            if isinstance(found.origin, Constant) and isinstance(found.origin.value, Absent):
                continue
            spot = Spot(indent + 4, indent + 4 + len(name) + 1)
            value = self._value(found.origin, (number, name), spot)
            arguments.append(python_text.argument(name, value))
        return python_text.call("run.call", arguments, indent=indent, assigned=self._names.results.get(number, ""))

    def _result_lines(self, number: int) -> Iterator[str]:
        for reference in self._used:
            if reference.source == "result" and reference.step == number:
                yield f"    {self._names.values[reference]} = {_expression(reference, self._names.results[number])}"

    def _answer(self) -> str:
        origin = self._promotion.answer.origin
        if isinstance(origin, Judged) and (-1, "") not in self._fields:
            return "None"
        return self._value(origin, (-1, ""), Spot(4, 11))

    def _value(self, origin: Origin, place: tuple[int, str], spot: Spot) -> str:
        match origin:
            case Constant(value=value):
                return python_text.literal(value, spot)
            case Taken(reference=reference, as_number=True):
                return f"int({self._names.values[reference]})"
            case Taken(reference=reference):
                return self._names.values[reference]
            case Template(parts=parts):
                return python_text.f_string([self._part(part) for part in parts], spot)
            case Listed(items=items):
                return f"[{', '.join(self._value(item, place, spot) for item in items)}]"
            case Judged():
                one = self._fields[place]
                found = f"decided[{python_text.quoted(one.name)}]"
                if one.each:
                    return f"{found}[number]"
                return found

    def _part(self, part: Part) -> tuple[str, bool]:
        if isinstance(part, str):
            return part, False
        return self._names.values[part], True


def _root(reference: Reference) -> str:
    match reference.source:
        case "body":
            return "body"
        case "text":
            return "run.event.text"
        case source:
            return f"run.event.{source}"


def _expression(reference: Reference, root: str) -> str:
    found = f"{root}{_subscripts(reference.path)}"
    if reference.pattern:
        return f"part_of({found}, {_raw(reference.pattern)})"
    return found


def _subscripts(path: Path) -> str:
    return "".join(f"[{python_text.literal(part)}]" for part in path)


def _raw(pattern: str) -> str:
    """Return a pattern as a raw text, or as a text with escapes if it has quotes."""
    if '"' in pattern or pattern.endswith("\\"):
        return python_text.quoted(pattern)
    return f'r"{pattern}"'
