"""The file of a golden's recorded runs."""

from gofer.evals.goldens.run_file import golden_run
from gofer.journal import entries as e
from gofer.replay.recorded_run import RecordedRun
from support.stand_ins import mention


def test_words_of_feedback_and_reviews_are_not_in_a_golden() -> None:
    follow_ups = [e.FeedbackGiven("bad", "U1", "Ada", "Ask Ada."), e.RunReviewed(effective=False, why="Ada waits.")]
    entries = [e.RunAccepted(mention(), "answer-here"), e.RunFinished("done"), *follow_ups]
    recorded = [e.Recorded(n=n, i=0, at=n, owner="me", entry=entry) for n, entry in enumerate(entries, 1)]
    made = golden_run(RecordedRun("run1", {"run1": recorded}, {}, {}, {}))
    assert [one.entry for one in made.entries("run1")] == entries[:2]
