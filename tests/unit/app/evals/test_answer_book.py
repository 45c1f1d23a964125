"""Recorded answers of a folder: each case keeps its own, and a recording loses none of another case."""

from datetime import date
from pathlib import Path

import pytest

from gofer.app.evals.answer_book import AnswerBook
from gofer.app.evals.answering import Asked, RecordedModel
from gofer.app.evals.repeatable import VirtualClock
from gofer.evals.answers import AnswerFile, RecordedAnswer, Source, read_answers, recorded
from gofer.evals.eval_file import Case, Eval
from gofer.evals.load import LoadedEval
from gofer.models.language_model import Answer
from gofer.values.errors import ConfigError
from gofer.values.messages import Usage
from gofer.workflows.yaml_source import Source as File

BODY = b'{"messages": [{"role": "user", "content": "restart"}]}'
LIVE = Source(kind="model", model="gpt-5", on=date(2026, 3, 2))
SCRIPT = Source(kind="scripted", model="scripted")


def answer(text: str, source: Source = LIVE) -> RecordedAnswer:
    return recorded(BODY, Answer(text, (), "stop", source.model, Usage()), source, 5)


def loaded(*cases: str, name: str = "pager") -> LoadedEval:
    return LoadedEval(
        File(Path(f"evals/{name}.yaml")), Eval(workflow="pager", cases=[Case(name=case) for case in cases])
    )


def stored(folder: Path, **cases: RecordedAnswer) -> Path:
    path = folder / "answers" / "pager.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(AnswerFile(cases={case: (one,) for case, one in cases.items()}).to_text())
    return path


async def asked(book: AnswerBook, of: LoadedEval, case: str) -> str:
    own = book.answers(of.name).cases.get(case, ())
    model = RecordedModel(book.by_request(of), own, Asked(), VirtualClock(0))
    return (await model.ask(BODY, 1)).text


@pytest.mark.anyio
async def test_case_gets_its_own_answer_before_one_of_another_case(tmp_path: Path) -> None:
    stored(tmp_path, first=answer("first"), second=answer("second"))
    book = AnswerBook(tmp_path)
    assert [await asked(book, loaded("first", "second"), case) for case in ("first", "second")] == ["first", "second"]


@pytest.mark.anyio
@pytest.mark.parametrize("names", [("first", "second"), ("second", "first")])
async def test_live_answer_of_another_case_comes_before_a_scripted_one(tmp_path: Path, names: tuple[str, str]) -> None:
    stored(tmp_path, **{names[0]: answer("live"), names[1]: answer("script", SCRIPT)})
    assert await asked(AnswerBook(tmp_path), loaded("first", "second", "third"), "third") == "live"


def test_answers_of_a_deleted_case_are_not_used_and_are_removed(tmp_path: Path) -> None:
    path = stored(tmp_path, deleted=answer("old"), other=answer("other"))
    of = loaded("one", "other")
    book = AnswerBook(tmp_path)
    assert [one.text for one in book.by_request(of).values()] == ["other"]
    book.keep(of, "one", [answer("new")])
    book.write()
    assert set(read_answers(path.read_text(), "x").cases) == {"one", "other"}


def test_file_that_cannot_be_written_loses_no_answers_of_other_files(tmp_path: Path) -> None:
    (tmp_path / "answers" / "pager.json").mkdir(parents=True)
    book = AnswerBook(tmp_path)
    first, second = loaded("one"), loaded("one", name="tickets")
    book._answers["pager"] = AnswerFile()
    book.keep(first, "one", [answer("first")])
    book.keep(second, "one", [answer("second")])
    with pytest.raises(ConfigError, match=r"pager\.json cannot be written"):
        book.write()
    assert (tmp_path / "answers" / "tickets.json").is_file()
