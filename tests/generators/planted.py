"""The table of planted changes, made by `make planted`: which gate sees each regression, and no harmless change."""

import sys

from support.mutants.planted_changes import harmless_seen, regressions_seen, table


def main() -> int:
    """Print both tables; return 1 if a regression passed or a harmless change did not."""
    regressions = regressions_seen()
    harmless = harmless_seen()
    print(table(regressions), table(harmless), sep="\n\n")  # noqa: T201
    wrong = [one for one in regressions if not one.gate] + [one for one in harmless if one.gate]
    for one in wrong:
        print(f"wrong: {one.planted.kind}, {one.planted.change}: {one.said}", file=sys.stderr)  # noqa: T201
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
