"""What a suggestion can cost at most."""

from gofer.learning.suggestions.cost import MostCalls


def test_most_calls_count_the_case_the_replays_and_the_suite_twice() -> None:
    most = MostCalls(per_run=10, replayed=4, suite_plays=[1, 5])
    assert most.total == 2 + 10 * 2 * (3 + 4 + 3 + 6)
    assert most.sentence(1.5) == (
        "Asks for a proposal with at most 2 calls of a model. A proof needs at most 320 more, and judges. The limit is "
        "1.5 USD."
    )
