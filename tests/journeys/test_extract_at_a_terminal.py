"""`gofer extract` at a terminal: the text of documents, one line of JSON each, or one sentence."""

import json
import zipfile
from pathlib import Path

import pytest

from gofer.cli.main import main
from support.documents.made_by_hand import docx, lines, paragraph, pdf, row, xlsx


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "report.pdf").write_bytes(pdf([lines(["Größe matters"])]))
    (tmp_path / "notes.docx").write_bytes(docx(paragraph("日本語 and שלום")))
    (tmp_path / "wrong.docx").write_bytes(xlsx({"Costs": row(1, "Tea", "2.5")}))
    (tmp_path / "empty.pdf").write_bytes(b"")
    return tmp_path


def test_extract_prints_the_text_of_a_document(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["extract", str(folder / "report.pdf")]) == 0
    assert capfd.readouterr() == ("[page 1 of 1]\nGröße matters\n", "")


def test_extract_heads_each_document_with_the_path_and_notes_a_wrong_extension(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    files = [str(folder / name) for name in ("notes.docx", "wrong.docx")]
    assert main(["extract", *files]) == 0
    out, err = capfd.readouterr()
    table = '[sheet "Costs": 1 row × 2 columns]\n| Tea | 2.5 |\n| --- | --- |'
    assert out == f"==> {files[0]} <==\n日本語 and שלום\n==> {files[1]} <==\n{table}\n"
    assert err == f"gofer: {files[1]}: The name ends like a Word document, but this is an Excel workbook.\n"


def test_extract_json_prints_one_line_per_file_readable_or_not(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    files = [str(folder / name) for name in ("notes.docx", "empty.pdf", "missing.pdf")]
    assert main(["extract", "--json", *files]) == 2
    out, err = capfd.readouterr()
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    assert err == ""
    nothing = {"media_type": None, "text": None, "notes": []}
    assert [json.loads(line) for line in out.splitlines()] == [
        {"file": files[0], "media_type": word, "text": "日本語 and שלום", "notes": [], "error": None},
        {"file": files[1], **nothing, "error": "The file is empty: it has 0 bytes."},
        {"file": files[2], **nothing, "error": "There is no such file; check the name."},
    ]


def test_extract_reports_an_unreadable_document_in_one_sentence(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["extract", str(folder / "empty.pdf")]) == 2
    assert capfd.readouterr() == ("", f"gofer: {folder / 'empty.pdf'}: The file is empty: it has 0 bytes.\n")


def test_extract_refuses_a_folder_and_begins_at_the_page_of_first_page(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert main(["extract", str(folder)]) == 2
    assert capfd.readouterr().err == f"gofer: {folder}: This is a folder; name files in it.\n"
    (folder / "long.pdf").write_bytes(pdf([lines([f"Sheet {n}"]) for n in range(1, 4)]))
    assert main(["extract", "--first-page", "3", str(folder / "long.pdf")]) == 0
    assert capfd.readouterr().out == "[page 3 of 3]\nSheet 3\n"
    assert main(["extract", "--first-page", "4", str(folder / "long.pdf")]) == 2
    assert "The PDF has 3 pages; there is no page 4." in capfd.readouterr().err


def test_extract_names_missing_text_and_the_option_that_gets_the_rest(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scan = b"q 612 0 0 792 0 0 cm BI /W 1 /H 1 /CS /G /BPC 8 ID \x00 EI Q"
    file = folder / "long.pdf"
    file.write_bytes(pdf([lines(["Sheet 1"]), scan, lines(["Sheet 3"]), scan]))
    assert main(["extract", "--last-page", "3", str(file)]) == 0
    said = (
        "The text is incomplete. Missing: page 4, because only a part was asked for; get it with --first-page 4. "
        "Missing: the text of page 2, because images or drawings take the place of text."
    )
    assert capfd.readouterr().err == f"gofer: {file}: {said}\n"
    assert main(["extract", "--json", "--last-page", "3", str(file)]) == 0
    assert json.loads(capfd.readouterr().out)["missing"] == said


def test_extract_reads_one_sheet_from_a_given_row(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    rows = "".join(row(number, f"Item {number}") for number in range(1, 6))
    file = folder / "costs.xlsx"
    file.write_bytes(xlsx({"Tea": row(1, "x"), "Costs 2026": rows}))
    assert main(["extract", "--sheet", "Costs 2026", "--first-row", "4", str(file)]) == 0
    out, err = capfd.readouterr()
    marker = '[sheet "Costs 2026": 5 rows × 1 column; row 1, then rows 4 to 5]'
    assert out == f"{marker}\n| Item 1 |\n| --- |\n| Item 4 |\n| Item 5 |\n"
    assert 'the sheet "Tea", because only a part was asked for; get it with --sheet Tea.' in err


def test_extract_notes_a_guessed_encoding_and_keeps_json_on_one_line(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "kunden.csv").write_bytes("Name;Ort\r\nMüller;Köln\r\n".encode("cp1252"))
    (folder / "odd.txt").write_text("one\u2028two\u2029three\x85four")
    assert main(["extract", "--json", str(folder / "kunden.csv"), str(folder / "odd.txt")]) == 0
    table, odd = (json.loads(line) for line in capfd.readouterr().out.splitlines())
    assert "Müller" in table["text"]
    assert table["notes"] == ["Read as windows-1252, guessed."]
    assert odd["text"] == "one\u2028two\u2029threefour"
    assert main(["extract", "--encoding", "cp850", str(folder / "kunden.csv")]) == 0
    assert "M³ller" in capfd.readouterr().out


def test_extract_reads_one_member_of_an_archive(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as target:
        target.writestr("docs/a.csv", "x;y\n1;2\n")
    assert main(["extract", str(path)]) == 0
    assert "- docs/a.csv (8 bytes)" in capfd.readouterr().out
    assert main(["extract", "--member", "docs/a.csv", str(path)]) == 0
    assert "| 1 | 2 |" in capfd.readouterr().out
