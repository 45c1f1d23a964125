"""The named parts of a history: one for each of its messages."""

from hypothesis import given

from gofer.journal.entries import Recorded
from gofer.projections.requests.context_parts import History, Part, fold, names
from support.journal.generated_journals import journals


@given(journal=journals())
def test_history_has_one_part_for_each_message_of_the_conversation(journal: list[Recorded]) -> None:
    history = History()
    for recorded in journal:
        fold(history, recorded)
        assert len(history.parts) == len(history.conversation.parts)


def test_several_turns_become_one_name_before_the_messages_between() -> None:
    parts = [Part("turn 3", 3), Part("result of look (3.0)", 3), Part("message of a person (9.0)"), Part("turn 4", 4)]
    assert names(parts, []) == ("turns 3 to 4", "message of a person (9.0)")


def test_known_parts_files_and_skills_are_not_named_again() -> None:
    known = [Part("turn 1", 1, files=("file_1",))]
    parts = [*known, Part("result of look (1.0)", 1, files=("file_1", "file_2"), skills=("routing",))]
    assert names(parts, known) == ("result of look (1.0)", "file_2", "skill routing")


def test_files_and_skills_share_the_tokens_of_their_message_equally() -> None:
    part = Part("result of look (1.0)", 1, files=("file_1",), skills=("routing",))
    assert dict(part.tokens_by_name(101)) == {"file_1": 50, "skill routing": 50}


def test_files_with_a_text_of_their_own_keep_their_tokens() -> None:
    part = Part("first message", files=("file_1", "file_2"), texts={"file_1": 7, "file_2": 1_100})
    assert dict(part.tokens_by_name(2_000)) == {"file_1": 7, "file_2": 1_100}
