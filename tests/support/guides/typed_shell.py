"""A shell that stays open: the blocks of a guide are typed into it one after the other, and share their variables."""

import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path

_END = "-- typed --"
_HANGS = 1_800.0
"""Seconds after which a block hangs, on the slowest machine."""


class TypedShell:
    """A bash in a folder, with these variables only. A command that fails is an error of the test."""

    def __init__(self, folder: Path, variables: Mapping[str, str]) -> None:
        self._bash = subprocess.Popen(
            ["bash", "--noprofile", "--norc"],
            cwd=folder,
            env=dict(variables),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.type("set -e -o pipefail")

    def type(self, block: str, *answers: str) -> str:
        """Type a block, and then a line for each question that it asks; return what is printed."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.write("\n".join([block.rstrip("\n"), *answers, f"echo '{_END}'", ""]))
        self._bash.stdin.flush()
        watch = threading.Timer(_HANGS, self._bash.kill)
        watch.start()
        printed = ""
        for line in self._bash.stdout:
            text, end, _ = line.partition(_END)
            printed += text
            if end:
                watch.cancel()
                return printed
        watch.cancel()
        raise AssertionError(f"{block}\nended with {self._bash.wait()} after it had printed:\n{printed}")

    def close(self) -> None:
        """End the shell."""
        assert self._bash.stdin is not None
        assert self._bash.stdout is not None
        self._bash.stdin.close()
        self._bash.stdout.close()
        self._bash.wait()
