"""Labels: JSON lines of people, with the line of every mistake."""

from pathlib import Path

import pytest

from gofer.evals.judging.labels import MOST, read_labels
from gofer.values.errors import ConfigError


@pytest.mark.parametrize(
    "line", ['{"text": "", "label": "CORRECT"}', '{"text": "x", "label": "yes"}', '{"text": "x"}', "x", '{"txt": "x"}']
)
def test_wrong_line_is_named_with_its_number(line: str, tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text(f'{{"text": "x", "label": "CORRECT"}}\n{line}\n')
    with pytest.raises(ConfigError, match=r"Line 2 of the labels .*l\.jsonl is no labelled example"):
        read_labels(path)


def test_more_examples_than_the_limit_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text('{"text": "x", "label": "CORRECT"}\n' * (MOST + 1))
    with pytest.raises(ConfigError, match="more than 500 examples"):
        read_labels(path)


def test_example_may_be_the_json_of_a_material(tmp_path: Path) -> None:
    path = tmp_path / "l.jsonl"
    path.write_text('{"text": "{\\"runs\\": []}", "label": "CORRECT"}\n{"text": "{no json", "label": "CORRECT"}\n')
    first, second = read_labels(path).examples
    assert (first.material, second.material) == ({"runs": []}, {"text": "{no json"})
