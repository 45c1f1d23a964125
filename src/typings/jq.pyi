"""What Gofer uses of jq, which has no types of its own."""

from collections.abc import Iterator

class _Results:
    def __iter__(self) -> Iterator[object]: ...

class _Program:
    def input_text(self, text: str) -> _Results: ...

def compile(program: str) -> _Program: ...
