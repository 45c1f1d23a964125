"""Groups of signs with something in common."""

from hypothesis import given
from hypothesis import strategies as st

from gofer.learning.suggestions.sign_groups import grouped
from gofer.learning.suggestions.signs import Sign, SignKind


def sign(run: str, kind: SignKind, words: str = "", about: str = "") -> Sign:
    return Sign(run, "1.0", kind, about, words)


def test_same_check_and_same_tool_are_groups() -> None:
    signs = [sign("a", "check", about="c"), sign("b", "check", about="c"), sign("a", "tool", about="find")]
    groups = grouped(signs)
    assert [(group.kind, group.about, list(group.runs)) for group in groups] == [
        ("check", "c", ["a", "b"]),
        ("tool", "find", ["a"]),
    ]
    assert groups[0].title == "the check c failed (2 runs)"


def test_similar_words_of_two_runs_are_one_group() -> None:
    signs = [
        sign("a", "feedback", "The ticket about the search is in the wrong project"),
        sign("b", "review", "Wrong project: search belongs to the shop"),
        sign("c", "feedback", "Far too long, nobody reads such answers"),
    ]
    first, second = grouped(signs)
    assert (first.runs, second.runs) == (["a", "b"], ["c"])
    assert first.title == "people or reviews said similar things (2 runs, 1 with bad feedback)"
    assert second.title == "a person or a review said (1 run, 1 with bad feedback)"


def test_words_of_people_come_before_other_feedback_and_before_warnings() -> None:
    warnings = [sign(run, "check", "loops", about="no-tool-loops") for run in "abcdef"]
    reviewed = [sign(run, "review", "The ticket lacks its customer and the order number") for run in "ghi"]
    liked_least = [sign("g", "feedback"), sign("x", "feedback", "Never say sorry in an answer")]
    groups = grouped([*warnings, *reviewed, *liked_least])
    assert [(group.kind, len(group.runs), group.has_feedback, group.disliked) for group in groups] == [
        ("words", 1, True, 1),
        ("words", 3, False, 1),
        ("check", 6, False, 0),
    ]


def test_runs_with_words_of_people_come_first_in_their_group() -> None:
    words = "The ticket about the search is in the wrong project"
    (group,) = grouped([sign("a", "review", words), sign("b", "review", words), sign("c", "feedback", words)])
    assert group.runs == ["c", "a", "b"]


def test_feedback_without_words_follows_the_words_of_its_run() -> None:
    (group,) = grouped([sign("a", "feedback"), sign("a", "review", "The project is wrong")])
    assert (len(group.signs), group.has_feedback) == (2, False)


def test_feedback_without_any_words_is_in_no_group() -> None:
    assert grouped([sign("a", "feedback"), sign("b", "feedback")]) == []


@given(
    st.lists(
        st.builds(
            Sign,
            st.sampled_from("abcd"),
            st.just(""),
            st.sampled_from(["feedback", "review", "check", "tool"]),
            st.sampled_from(["x", "y"]),
            st.text("abcdefgh ", max_size=40),
        ),
        max_size=20,
    )
)
def test_each_sign_is_always_in_at_most_one_group(signs: list[Sign]) -> None:
    found = [id(sign) for group in grouped(signs) for sign in group.signs]
    assert len(found) == len(set(found))
    assert set(found) <= {id(sign) for sign in signs}
