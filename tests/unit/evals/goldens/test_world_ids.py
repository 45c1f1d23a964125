"""The ids of a golden in another world."""

from hypothesis import given
from hypothesis import strategies as st

from gofer.evals.goldens.world_ids import WorldIds, is_id

IDS = st.from_regex(r"[CU][A-Z0-9]{7}[0-9]", fullmatch=True)


def test_ids_at_the_same_places_are_pairs() -> None:
    ids = WorldIds()
    ids.learn(
        recorded={"channel": "C8IQWZW27", "message": {"ts": "1795436633.111800", "user": "U1ABCDE2"}, "text": "One."},
        world={"channel": "C0GENERA0", "message": {"ts": "1772436300.000000", "user": "U0SUPPO0"}, "text": "Two."},
    )
    link = "see <https://a.slack.com/archives/C8IQWZW27/p1795436633111800>, 1795436633.111800."
    assert ids.to_world(link) == "see <https://a.slack.com/archives/C0GENERA0/p1772436300000000>, 1772436300.000000."
    assert ids.to_recorded(ids.to_world(link)) == link
    assert "One." not in ids.pairs


def test_ids_within_texts_of_one_form_are_pairs() -> None:
    ids = WorldIds()
    ids.learn(
        recorded="PAY-18 was created: https://a.atlassian.net/browse/PAY-18",
        world="PAY-7 was created: https://b.atlassian.net/browse/PAY-7",
    )
    assert ids.pairs == {"PAY-18": "PAY-7", "a.atlassian.net": "b.atlassian.net"}


def test_counts_dates_and_words_are_no_ids() -> None:
    assert not any(map(is_id, ("5", "2026-11-23", "Done", "12345678", "v2", "13.5")))
    assert all(map(is_id, ("PAY-18", "C8IQWZW27", "1795436633.111800", "9d7c8b4d-6d5e-7d6a-5c4e-085767824274")))


def test_texts_that_differ_in_words_teach_no_pair() -> None:
    ids = WorldIds()
    ids.learn(recorded="PAY-18 is done", world="PAY-21 is open")
    ids.learn(recorded=["PAY-18", 1, None], world=["PAY-18"])
    ids.learn(recorded={"a": "PAY-18"}, world="PAY-21")
    assert ids.pairs == {}


def test_first_pair_of_an_id_stays() -> None:
    ids = WorldIds({"PAY-18": "PAY-21"})
    ids.pair(recorded="PAY-18", world="PAY-22")
    ids.pair(recorded="PAY-19", world="PAY-21")
    assert ids.pairs == {"PAY-18": "PAY-21"}


@given(st.lists(st.tuples(IDS, IDS), unique_by=(lambda pair: pair[0], lambda pair: pair[1])), st.data())
def test_mapping_to_the_world_and_back_gives_the_recorded_value(
    pairs: list[tuple[str, str]], data: st.DataObject
) -> None:
    recorded = [old for old, _ in pairs]
    ids = WorldIds({old: f"W{new}" for old, new in pairs})
    words = data.draw(st.lists(st.sampled_from([*recorded, "and", "the link", "/", "(C)"])))
    value = {"text": " ".join(words), "list": words, "number": 1}
    there = ids.to_world(value)
    assert ids.to_recorded(there) == value
    assert not any(old in str(there).split() for old in recorded)
