"""What Gofer uses of google-re2, which has no types of its own."""

class error(Exception): ...

class Options:
    class Encoding:
        UTF8: Options.Encoding
        LATIN1: Options.Encoding

    never_nl: bool
    log_errors: bool
    case_sensitive: bool
    encoding: Options.Encoding

class Match:
    def span(self) -> tuple[int, int]: ...
    def start(self) -> int: ...

class Pattern:
    programsize: int
    def findall(self, text: bytes) -> list[bytes]: ...
    def search(self, text: bytes, pos: int, endpos: int) -> Match | None: ...

def compile(pattern: bytes, options: Options) -> Pattern: ...
