"""Lines for a terminal: names and texts of outsiders move no cursor, and make no lines of their own."""

import pytest

from gofer.cli.terminal import print_lines


def test_escape_sequences_and_line_breaks_of_a_name_are_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    print_lines(["✓ a\x1b[2Jb", "model\nGofer: done\r\u2028\u202e", "│ é 👩‍👩‍👧"])
    assert capsys.readouterr().out.split("\n") == [
        "✓ a\\x1b[2Jb",
        "model Gofer: done\\x0d\\u2028\\u202e",
        "│ é 👩‍👩‍👧",
        "",
    ]
