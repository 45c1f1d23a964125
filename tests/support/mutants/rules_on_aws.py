"""Rules of the stores on AWS, each taken out of the source."""

from support.mutants.mutant import Mutant

DYNAMO = "unit/stores/aws/test_journal.py::test_"

ON_AWS = (
    Mutant(
        "the fence of the table",
        "stores/aws/frames.py",
        "Put(row(frame_key(run, n), frame=frame), Absent())",
        "Put(row(frame_key(run, n), frame=frame))",
        "unit/stores/aws/test_calls.py::test_who_meets_the_frame_of_somebody_else_stops",
    ),
    Mutant(
        "what the index shows is read again",
        "stores/aws/heads.py",
        "if head.ended or head.touched_at >= before:",
        "if head.touched_at >= before:",
        f"{DYNAMO}a_run_that_ended_since_the_index_knew_of_it_is_not_unfinished",
    ),
    Mutant(
        "a run that is unfinished again is open again",
        "stores/aws/heads.py",
        'elif await self.table.write(_change(head, OneOf("status", UNFINISHED))):',
        "elif await self.table.write(_change(head, None)):",
        f"{DYNAMO}a_head_that_a_frozen_owner_writes_over_an_ending_is_found_again",
    ),
    Mutant(
        "a page ends where the index shows it",
        "stores/aws/heads.py",
        "moved = stale[: limit - 1]\n",
        "moved, found = [], [*found, *stale]\n",
        f"{DYNAMO}a_page_never_ends_at_a_run_that_has_moved_on_while_another_stands_where_it_was",
    ),
)
