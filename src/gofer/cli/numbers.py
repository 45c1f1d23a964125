"""Which numbers may stand on a command line?"""

import argparse
from collections.abc import Callable


def number(least: int, most: int) -> Callable[[str], int]:
    """A type for argparse: a whole number between two bounds."""

    def parse(text: str) -> int:
        if not text.isascii() or not text.isdecimal() or len(text) > 20 or not least <= int(text) <= most:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} to {most}")
        return int(text)

    return parse
