"""Rules of the stores on AWS, each taken out of the source."""

from support.mutants.mutant import Mutant

DYNAMO = "unit/stores/aws/test_journal.py::test_"
PLACE = "unit/stores/aws/test_heads_of_a_place.py::test_"

ON_AWS = (
    Mutant(
        "the fence of the table",
        "stores/aws/frames.py",
        "Put(row(frame_key(run, n), frame=frame), Absent())",
        "Put(row(frame_key(run, n), frame=frame))",
        "unit/stores/aws/test_calls.py::test_journal_commit_that_meets_the_frame_of_another_owner_is_fenced",
    ),
    Mutant(
        "what the index shows is read again",
        "stores/aws/heads.py",
        "if head.ended or head.touched_at >= before:",
        "if head.touched_at >= before:",
        f"{DYNAMO}ended_run_is_not_unfinished_despite_a_lagging_index",
    ),
    Mutant(
        "a run that is unfinished again is open again",
        "stores/aws/heads.py",
        'elif await self.table.write(_change(head, OneOf("gsi_pk", [partition_of(head)]))):',
        "elif await self.table.write(_change(head, None)):",
        f"{DYNAMO}head_that_a_stalled_owner_overwrites_is_runnable_again",
    ),
    Mutant(
        "a write lists a run of an earlier version in its place",
        "stores/aws/heads.py",
        'OneOf("gsi_pk", [partition_of(head)])',
        'OneOf("status", ["queued", "running", "parked"])',
        f"{PLACE}run_of_an_earlier_version_is_in_its_place_before_and_after_each_write",
    ),
    Mutant(
        "a hidden or kept run of an earlier version stays in its list",
        "stores/aws/heads.py",
        'if head.ended:\n        return {"gsi_pk": partition_of(head)}',
        'if True:\n        return {"gsi_pk": partition_of(head)}',
        f"{PLACE}run_of_an_earlier_version_is_in_its_place_before_and_after_each_write",
    ),
    Mutant(
        "a page ends where the index shows it",
        "stores/aws/heads.py",
        "moved = stale[: limit - 1]\n",
        "moved, found = [], [*found, *stale]\n",
        f"{DYNAMO}page_of_unfinished_runs_never_ends_at_a_run_that_moved_on",
    ),
)
