"""The measures of one version of the project, from the texts of its files."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

PRONOUNS = re.compile(r"\b(?:whoever|whatever|whichever|somebody|nobody|anybody|whose)\b", re.IGNORECASE)
UNCLEAR_NAME = re.compile(
    r"_(?:what|who|whoever|whatever|whichever|whose|somebody|nobody|anybody|nothing|something|it|them|they|that_is|those_of|one_that)(?=_|$)"
)
"""Words in the name of a test that do not say which feature it is about."""
SHORT_MODULE = 50
DOCUMENTED = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef

PARALLEL = "parallel assignments"
CONDITIONAL = "conditional expressions"
NESTED = "nested conditional expressions"
WALRUS = "assignment expressions"
PRONOUN = "indefinite pronouns in docstrings"
REFERENCE = "docstrings that only say See X.y"
QUESTION = "module docstrings that are questions"


@dataclass(frozen=True)
class Measured:
    """The figures of one version."""

    counts: Counter[str]
    """Occurrences in the Python files below `src/`, by measure."""
    lines: int
    """Lines of these files."""
    modules: int
    short_modules: int
    """Modules of fewer than 50 lines."""
    docstring_words: int
    tests: int
    """Functions below `tests/` whose names begin with `test_`."""
    unclear_tests: int
    """The share of these whose names have a pronoun in place of the feature."""
    document_words: Mapping[str, int]
    """Words of README.md, of the pages in `docs/`, and of the decisions."""

    def per_1000_lines(self, measure: str) -> float:
        """Return how often a measure occurs in 1,000 lines of source."""
        return 1_000 * self.counts[measure] / self.lines

    def pronouns_per_1000_words(self) -> float:
        """Return how many indefinite pronouns 1,000 words of docstrings hold."""
        return 1_000 * self.counts[PRONOUN] / max(self.docstring_words, 1)


def measured(texts: Mapping[str, str]) -> Measured:
    """Return the measures of a version. `texts` has its Python and Markdown files by their path from the root."""
    source = {path: text for path, text in texts.items() if path.startswith("src/") and path.endswith(".py")}
    trees = [ast.parse(text) for text in source.values()]
    lengths = [len(text.splitlines()) for text in source.values()]
    tests = [name for path, text in texts.items() if path.startswith("tests/") for name in _tests(text)]
    return Measured(
        counts=sum((counts_of(tree) for tree in trees), Counter()),
        lines=sum(lengths),
        modules=len(source),
        short_modules=sum(length < SHORT_MODULE for length in lengths),
        docstring_words=sum(len(docstring.split()) for tree in trees for _, docstring in docstrings(tree)),
        tests=len(tests),
        unclear_tests=sum(UNCLEAR_NAME.search(name) is not None for name in tests),
        document_words=_document_words(texts),
    )


def counts_of(tree: ast.AST) -> Counter[str]:
    """Count the occurrences of each measure in a module."""
    counts: Counter[str] = Counter()
    for node in ast.walk(tree):
        counts.update(_of_code(node))
    for node, docstring in docstrings(tree):
        counts[PRONOUN] += len(PRONOUNS.findall(docstring))
        counts[REFERENCE] += bool(re.match(r"See [A-Z]\w+\.\w+", docstring))
        first = docstring.strip().partition("\n")[0]
        counts[QUESTION] += isinstance(node, ast.Module) and first.rstrip().endswith("?")
    return +counts


def docstrings(tree: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Yield each module, class and function that has a docstring, with its docstring."""
    if isinstance(tree, DOCUMENTED) and (docstring := ast.get_docstring(tree)):
        yield tree, docstring
    for child in ast.iter_child_nodes(tree):
        # Expressions hold no documented node, and are most of the nodes.
        if not isinstance(child, ast.expr):
            yield from docstrings(child)


def _of_code(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Assign(targets=[ast.Tuple(), *_], value=ast.Tuple()):
            yield PARALLEL
        case ast.NamedExpr():
            yield WALRUS
        case ast.IfExp():
            yield CONDITIONAL
            below = (inner for child in ast.iter_child_nodes(node) for inner in ast.walk(child))
            if any(isinstance(inner, ast.IfExp) for inner in below):
                yield NESTED
        case _:
            pass


def _tests(text: str) -> list[str]:
    return re.findall(r"^ *(?:async )?def (test_\w+)", text, flags=re.MULTILINE)


def _document_words(texts: Mapping[str, str]) -> Mapping[str, int]:
    words = {"README.md": 0, "docs/": 0, "docs/decisions/": 0}
    for path, text in texts.items():
        if path.startswith("docs/decisions/") and path.endswith(".md"):
            words["docs/decisions/"] += len(text.split())
        elif path.startswith("docs/") and path.endswith(".md"):
            words["docs/"] += len(text.split())
        elif path == "README.md":
            words["README.md"] += len(text.split())
    return words
