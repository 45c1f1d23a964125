"""Recorded answers of a folder: each case keeps its own, and a recording loses none of another case."""

from datetime import date
from pathlib import Path

import pytest

from gofer.app.evals.answer_book import AnswerBook
from gofer.app.evals.answering import Asked, RecordedModel
from gofer.app.evals.repeatable import VirtualClock
from gofer.evals.answers import AnswerFile, RecordedAnswer, Source, read_answers, recorded, recorded_failure
from gofer.evals.eval_file import Case, Eval
from gofer.evals.load import LoadedEval
from gofer.models.language_model import Answer, Unusable
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
    path.write_text(AnswerFile({case: [(one,)] for case, one in cases.items()}).to_text())
    return path


async def asked(book: AnswerBook, of: LoadedEval, case: str) -> str:
    (own,) = book.plays(of.name, case) or ((),)
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
    book.keep(of, "one", 1, (answer("new"),))
    assert set(read_answers(path.read_text(), "x").cases) == {"one", "other"}


def test_each_golden_keeps_its_answers_when_others_are_recorded(tmp_path: Path) -> None:
    (tmp_path / "goldens").mkdir()
    files = [tmp_path / "goldens" / f"{name}.yaml" for name in ("first", "second", "third")]
    for path in files:
        path.write_text("{}")
    book = AnswerBook(tmp_path)
    for path in files:
        book.keep(golden(path), path.stem, 1, (answer(path.stem),))
    again = AnswerBook(tmp_path)
    assert [again.plays("goldens", path.stem)[0][0].text for path in files] == ["first", "second", "third"]
    assert len(again.by_request(golden(files[0]))) == 1
    files[1].unlink()
    again.keep(golden(files[0]), "first", 1, (answer("new"),))
    assert set(AnswerBook(tmp_path).answers("goldens").cases) == {"first", "third"}


def golden(path: Path) -> LoadedEval:
    return LoadedEval(File(path), Eval(workflow="pager", cases=[Case(name=path.stem)]), is_golden=True)


def test_plays_are_on_disk_at_once_and_replace_an_earlier_recording(tmp_path: Path) -> None:
    path = stored(tmp_path, one=answer("old"), other=answer("other"))
    of = loaded("one", "other")
    book = AnswerBook(tmp_path)
    for number, text in ((3, "third"), (1, "first")):
        book.keep(of, "one", number, (answer(text),))
        assert text in path.read_text()
    kept = read_answers(path.read_text(), "x")
    assert [play[0].text for play in kept.plays("one")] == ["first", "third"]
    assert kept.plays("other")[0][0].text == "other"
    assert [file.name for file in path.parent.iterdir()] == ["pager.json"]


def test_play_that_asked_no_model_loses_no_recorded_answers(tmp_path: Path) -> None:
    stored(tmp_path, one=answer("old"))
    book = AnswerBook(tmp_path)
    book.keep(loaded("one"), "one", 1, ())
    assert AnswerBook(tmp_path).plays("pager", "one")[0][0].text == "old"


@pytest.mark.anyio
async def test_repeated_request_gets_the_answers_of_its_play_in_their_order() -> None:
    play = (recorded_failure(BODY, "bad_sample", LIVE, 1), answer("good"))
    model = RecordedModel({}, play, Asked(), VirtualClock(0))
    with pytest.raises(Unusable):
        await model.ask(BODY, 1)
    assert [(await model.ask(BODY, 1)).text for _ in range(2)] == ["good", "good"]


def test_file_that_cannot_be_written_ends_the_recording_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "pager.partial").mkdir()
    with pytest.raises(ConfigError, match=r"pager\.json cannot be written"):
        AnswerBook(tmp_path).keep(loaded("one"), "one", 1, (answer("first"),))
