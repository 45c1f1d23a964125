"""Eval files: their form, the files they name, and errors with places."""

from pathlib import Path

import pytest

from gofer.evals.load import load_evals, read_evals
from gofer.values.errors import ConfigError

SMALL = "workflow: w\ncases:\n  - name: one\n    trigger: {payload: payloads/a.json}\n"


def written(folder: Path, text: str = SMALL) -> Path:
    (folder / "payloads").mkdir(exist_ok=True)
    (folder / "payloads" / "a.json").write_text("{}")
    (folder / "ticket.yaml").write_text(text)
    return folder


def sentences(folder: Path) -> list[str]:
    return [str(mistake).removeprefix(f"{folder}/") for mistake in read_evals(folder)[1]]


def test_eval_file_is_loaded_with_its_name(tmp_path: Path) -> None:
    (loaded,) = load_evals(written(tmp_path))
    assert loaded.name == "ticket"
    assert loaded.eval.cases[0].name == "one"


def test_missing_folder_has_no_evals(tmp_path: Path) -> None:
    assert load_evals(tmp_path / "evals") == []


def test_files_of_inner_folders_are_no_evals(tmp_path: Path) -> None:
    (written(tmp_path) / "payloads" / "world.yaml").write_text("slack: {}")
    assert [loaded.name for loaded in load_evals(tmp_path)] == ["ticket"]


@pytest.mark.parametrize("path", ["../secret.json", "/etc/passwd", "payloads/../../x.json", '"a\\0b"'])
def test_path_out_of_the_folder_is_refused(tmp_path: Path, path: str) -> None:
    found = sentences(written(tmp_path, SMALL.replace("payloads/a.json", path)))
    assert len(found) == 1
    assert "is not below the folder" in found[0] or "does not allow" in found[0]


def test_symbolic_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    evals = tmp_path / "evals"
    evals.mkdir()
    written(evals, SMALL.replace("a.json", "link.json"))
    (tmp_path / "secret.json").write_text("{}")
    (evals / "payloads" / "link.json").symlink_to(tmp_path / "secret.json")
    assert "is not below the folder evals/" in sentences(evals)[0]


def test_missing_payload_names_the_similar_file(tmp_path: Path) -> None:
    (found,) = sentences(written(tmp_path, SMALL.replace("a.json", "b.json")))
    assert found.startswith("ticket.yaml:4:24: There is no file `payloads/b.json` in ")
    assert found.endswith("Write `payloads/a.json`, or create the file.")


def test_repeated_case_is_refused_with_the_line_of_the_first(tmp_path: Path) -> None:
    text = SMALL + "  - name: one\n    trigger: {}\n"
    assert sentences(written(tmp_path, text)) == [
        "ticket.yaml:5:11: The case `one` is repeated here; line 3 names it first. Give it another name."
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("workflow: w\ncases: []\n", "2:8: `cases` is empty. List at least one."),
        ("workflow: w\ncase: []\n", "2:1: `case` is not a key here. Write `cases`."),
        (SMALL + "    runs: {n: 3, require: 4/3}\n", "5:11: `4/3` does not fit to 3 runs. Write 1/3 to 3/3."),
        (SMALL + "    mocks: {a: {}}\n", "Write either a result (text, details, value) or a refusal."),
        (SMALL + "    expect: {next: [{a: {times: x}}]}\n", "`a.times` is the text `x`, not a whole number."),
        ("", "1:1: The file says nothing. Write the keys that docs/evals.md describes, or delete the file."),
    ],
)
def test_mistake_of_an_eval_has_its_place_and_the_correction(tmp_path: Path, text: str, sentence: str) -> None:
    assert any(sentence in found for found in sentences(written(tmp_path, text)))


def test_every_mistake_is_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="2 mistakes are in the eval files"):
        load_evals(written(tmp_path, SMALL + "    jugde: []\n    tag: x\n"))


def test_written_null_and_template_marks_are_data(tmp_path: Path) -> None:
    text = SMALL.replace("payloads/a.json", '{text: "${{ secrets.X }}", user: null}')
    (loaded,) = load_evals(written(tmp_path, text + "    expect: {output: {json: {owner: null}}}\n"))
    trigger = loaded.eval.cases[0].trigger
    assert trigger is not None
    assert trigger.payload == {"text": "${{ secrets.X }}", "user": None}


def test_single_values_are_lists_with_one_item(tmp_path: Path) -> None:
    text = (
        SMALL + "    expect: {checks: no-tool-loops, tools: {required: a, only: a}, output: {contains_any: [x, y]}}\n"
    )
    expect = load_evals(written(tmp_path, text))[0].eval.cases[0].expect
    assert expect.checks == ("no-tool-loops",)
    assert expect.tools.required == ("a",)
    assert expect.tools.only == ("a",)
    assert expect.output.contains_any == (("x", "y"),)


def test_number_of_runs_follows_from_the_required_share(tmp_path: Path) -> None:
    runs = load_evals(written(tmp_path, SMALL + "    runs: {require: 2/3}\n"))[0].eval.cases[0].runs
    assert runs is not None
    assert (runs.n, runs.require) == (3, "2/3")
