"""Rules about systems outside that are away, each taken out of the source."""

from support.mutants.mutant import Mutant

OUTAGES = "unit/engine/test_outages.py::test_"
SILENCE = "unit/runtime/test_worker_failures.py::test_"

OF_OUTAGES = (
    Mutant(
        "three attempts",
        "engine/effects.py",
        "        if not isinstance(outcome, NoAnswer) or not outcome.is_outage:\n            return outcome\n",
        "        return outcome\n",
        f"{OUTAGES}short_outage_is_bridged_by_immediate_retries[actor/1-read]",
    ),
    Mutant(
        "attempts end with their time",
        "engine/effects.py",
        "if number == ATTEMPTS or clock.monotonic() - began + wait > ATTEMPTS_WITHIN:",
        "if number == ATTEMPTS:",
        f"{OUTAGES}no_attempt_begins_after_the_time_for_attempts",
    ),
    Mutant(
        "a read that was asked for waits for nothing",
        "engine/permitted_call.py",
        '        if self.tool.effect == "read" and not is_own(self.call):\n            return 0.0\n',
        "",
        f"{OUTAGES}read_of_a_model_or_script_returns_the_outage_as_an_error[1.0]",
    ),
    Mutant(
        "delivery waits for a day",
        "engine/permitted_call.py",
        "DELIVERY = 86_400.0",
        "DELIVERY = OUTAGE",
        f"{SILENCE}answer_is_delivered_after_an_outage_of_hours",
    ),
    Mutant(
        "a wait that was cut short counts for as long as it was",
        "projections/progress.py",
        "            state.call_waits_ms[call] -= deferred.until - at\n",
        "",
        f"{OUTAGES}shortened_waits_count_with_the_real_duration",
    ),
    Mutant(
        "an operator wakes a parked run",
        "runtime/run_retry.py",
        '        await inbox.put(store, run, f"retry-',
        '        _ = (store, run, f"retry-',
        f"{SILENCE}retry_makes_the_next_delivery_attempt_of_an_answer_now",
    ),
    Mutant(
        "a fault before a run begins ends it",
        "runtime/owner.py",
        "        except Exception as error:\n",
        "        except ZeroDivisionError as error:\n",
        f"{SILENCE}fault_before_the_start_of_a_run_fails_the_run_with_a_reason",
    ),
    Mutant(
        "a private run that could not begin is counted",
        "runtime/run_reports.py",
        "    if not step.is_private or not finished.cause:\n",
        "    if step.is_private or not finished.cause:\n",
        f"{SILENCE}run_that_could_not_begin_is_counted_and_not_listed",
    ),
    Mutant(
        "an answer is posted anew after a refused edit",
        "runtime/deliver.py",
        '        case ToolResult(status="error"):\n',
        '        case ToolResult(status="refused"):\n',
        f"{SILENCE}answer_edit_refused_after_an_attempt_without_response_is_posted_anew",
    ),
)
