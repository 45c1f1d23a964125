"""Rules about calls in doubt, each taken out of the source."""

from support.mutants.mutant import Mutant

DOUBT = "unit/engine/test_effects_in_doubt.py::test_"

OF_DOUBT = (
    Mutant(
        "the permit of the run above a subagent",
        "engine/effects.py",
        "return not self._old and (self.above is None or self.above.young)",
        "return not self._old",
        f"{DOUBT}subagent_sends_no_request_after_the_root_run_was_taken_over",
    ),
    Mutant(
        "a deferred second attempt stays in doubt",
        "engine/effects.py",
        "return replace(later, in_doubt=bool(doubts))",
        "return later",
        f"{DOUBT}keyed_call_stays_in_doubt_while_the_second_attempt_is_deferred",
    ),
    Mutant(
        "a call in doubt of an ended run",
        "engine/once.py",
        'return "gone" if call in earlier.in_doubt else "free"',
        'return "free"',
        f"{DOUBT}call_in_doubt_of_an_ended_run_is_looked_up_with_the_original_key",
    ),
    Mutant(
        "the longest of several quiet times",
        "engine/effects.py",
        "max(waits, default=0.0)",
        "min(waits, default=0.0)",
        f"{DOUBT}quiet_time_follows_the_call_in_doubt_with_the_longest_settle_time[order0]",
    ),
)
