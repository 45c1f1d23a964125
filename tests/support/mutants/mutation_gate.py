"""The mutation gate: each mutant is a copy of the source without one rule, and a named test must fail on it.

A mutant is caught when its named test fails on the changed copy; on an unchanged copy all of them pass.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from support.mutants.mutant import Mutant
from support.mutants.rules_of_doubt import OF_DOUBT
from support.mutants.rules_of_keys import OF_KEYS
from support.mutants.rules_of_outages import OF_OUTAGES
from support.mutants.rules_of_trust import OF_TRUST
from support.mutants.rules_on_aws import ON_AWS

ROOT = Path(__file__).parents[3]
PROBE = "runs_the_copy"
"""A pytest plugin that refuses to run anything but the copy."""
_PROBE_SOURCE = """
import os
import gofer

def pytest_configure(config):
    assert gofer.__file__.startswith(os.environ["GOFER_COPY"] + os.sep), gofer.__file__
"""


EFFECTS, STEP = "unit/engine/test_effects.py::test_", "unit/engine/test_step.py::test_"
REPLAY = "unit/engine/test_script_branches.py::test_"
LOG, FRAMES = "unit/journal/test_log.py::test_", "unit/journal/test_frames.py::test_"
APPROVAL, ONCE = "unit/engine/test_approvals.py::test_", "unit/engine/test_once.py::test_"
DISPATCH, PROGRESS = "unit/runtime/test_receive.py::test_", "unit/projections/test_"

MUTANTS = (
    Mutant(
        "the fence",
        "journal/log.py",
        "if existing is not None and existing != raw:",
        "if False:",
        f"{LOG}journal_commit_of_the_slower_owner_is_fenced_and_not_written",
    ),
    Mutant(
        "the fence of the file",
        "stores/sqlite/journal.py",
        '" ON CONFLICT DO NOTHING",',
        '" ON CONFLICT DO UPDATE SET frame = ?3",',
        "contracts/test_store.py::test_frame_position_is_written_once[sqlite]",
    ),
    Mutant(
        "the nonce that tells our own lost answer",
        "journal/log.py",
        "if existing is not None and existing != raw:",
        "if existing is not None:",
        f"{LOG}journal_commit_with_a_lost_response_is_recognized_as_own",
    ),
    Mutant(
        "the intent",
        "engine/step.py",
        "        await run.commit()\n    doubtful =",
        "    doubtful =",
        f"{STEP}intent_is_durable_before_the_effect",
    ),
    Mutant(
        "an outcome before the next intent",
        "journal/log.py",
        "for recorded in drafted]",
        "for recorded in reversed(drafted)]",
        f"{STEP}outcome_shares_the_frame_of_the_next_intent",
    ),
    Mutant(
        "the permit",
        "engine/effects.py",
        "        await self._permit.hold()\n",
        "",
        f"{EFFECTS}stalled_worker_that_lost_the_run_sends_no_request",
    ),
    Mutant(
        "no permit from a frame that is not written",
        "engine/effects.py",
        "        if await commit():\n            self._since = max(self._since, since)\n",
        "        self._since = max(self._since, since)\n        await commit()\n",
        f"{EFFECTS}frame_still_being_written_renews_no_permit",
    ),
    Mutant(
        "an entry that is added while a frame is written",
        "journal/log.py",
        "            finally:\n                self._writing = []\n",
        "            finally:\n                self._writing, self._draft = [], []\n",
        f"{LOG}entry_added_during_a_commit_is_written_by_the_next_commit[False]",
    ),
    Mutant(
        "a script's calls are found by their branch",
        "engine/script_branches.py",
        'name = f"{_name(self.path)}:{tool}',
        'name = f"0:{tool}',
        f"{REPLAY}script_call_id_names_the_branch_and_beside_is_symmetric",
    ),
    Mutant(
        "no new effect of a script before those on record",
        "engine/script_branches.py",
        "if (recorded := self._likely_replaced(asked.path, asked.tool)) is None:",
        "if (recorded := self._likely_replaced(asked.path, asked.tool)) is None or True:",
        f"{REPLAY}divergence_notice_shows_the_journaled_and_the_requested_call",
    ),
    Mutant(
        "the quiet time",
        "engine/effects.py",
        "return max(tool.in_doubt.settle, patience.permit + patience.inflight + patience.skew)",
        "return max(tool.in_doubt.settle, 0.0)",
        "unit/runtime/test_owner_of_parked_runs.py::test_call_in_doubt_parks_the_run_until_the_quiet_time_is_over",
    ),
    Mutant(
        "a quiet time anew after a second attempt",
        "projections/progress.py",
        "            # A request is about to be sent again, and must land before a later owner looks for its effect.\n"
        "            state.quiet_until = 0\n",
        "            pass\n",
        f"{PROGRESS}progress.py::test_renewed_permit_restarts_the_quiet_time",
    ),
    Mutant(
        "the claim",
        "runtime/claimed_start.py",
        "run = await _agreed_run(run_ids(key, event, workflow), stores.journals, pen)",
        "run = pen.outside.new_id()",
        f"{DISPATCH}immediate_second_delivery_neither_writes_a_head_nor_enqueues",
    ),
    Mutant(
        "no 2xx before the claim is stored",
        "runtime/receive.py",
        'return Reply(503, b"Gofer cannot store',
        'return Reply(200, b"Gofer cannot store',
        f"{DISPATCH}delivery_that_cannot_be_stored_is_answered_with_503",
    ),
    Mutant(
        "the distrust of a refused retry",
        "engine/effects.py",
        'return Unknown("; then: ".join(dict.fromkeys((doubts[0], reason))))',
        "return Refused(reason)",
        f"{EFFECTS}refused_retry_of_an_unconfirmed_keyed_call_leaves_the_outcome_unknown",
    ),
    Mutant(
        "the look before a second attempt",
        "engine/effects.py",
        "        return found\n    if first is not None and",
        "        pass\n    if first is not None and",
        f"{STEP}lookup_call_in_doubt_is_not_repeated_when_the_lookup_finds_the_effect",
    ),
    Mutant(
        "a frame before a second attempt",
        "engine/effects.py",
        "    await permit.renew()\n    again =",
        "    again =",
        f"{STEP}lookup_call_in_doubt_is_repeated_under_a_new_frame_when_not_found",
    ),
    Mutant(
        "blind calls are never repeated",
        "engine/effects.py",
        'case "blind" if not doubt:',
        'case "blind" if True:',
        f"{STEP}blind_call_in_doubt_is_unknown",
    ),
    Mutant(
        "the lock after unknown",
        "projections/progress.py",
        "        state.locked.add((call.tool, unknown.destination))\n",
        "        pass\n",
        "unit/engine/test_loop.py::test_call_of_unknown_outcome_blocks_an_equal_call_in_the_same_turn",
    ),
    Mutant(
        "the body before its frame",
        "journal/bodies.py",
        "await blobs.put(key, sealed)",
        '__import__("asyncio").get_running_loop().create_task(blobs.put(key, sealed))',
        f"{LOG}journal_body_is_stored_before_the_frame_that_names_the_body",
    ),
    Mutant(
        "the chain of hashes",
        "journal/frames.py",
        "if raw[len(FORM) : _HEADER] != previous:",
        "if False:",
        f"{FRAMES}frame_that_does_not_follow_the_stored_predecessor_is_reported_corrupt",
    ),
    Mutant(
        "deleting a run destroys its key",
        "runtime/retention.py",
        "        await store.destroy_key(run)\n",
        "",
        "unit/runtime/test_retention.py::test_empty_frames_of_a_run_deleted_early_stay_until_the_thirtieth_day",
    ),
    Mutant(
        "the count of frames",
        "journal/log.py",
        "if len(stored) < known:",
        "if False:",
        f"{LOG}journal_that_lost_the_last_frames_is_reported_corrupt",
    ),
    Mutant(
        "the count of a subagent's frames",
        "journal/log.py",
        "await note_frames(self.run, self._n, self._store, self.pen.at())",
        "pass",
        "unit/engine/test_subagent_runs_without_their_end.py::test_truncated_subagent_journal_stops_the_run_before_any_effect",
    ),
    Mutant(
        "rows name no conversation",
        "runtime/claimed_start.py",
        "conversation = await note_conversation(event.conversation, Tokens(key), stores.journals, pen.at)",
        "conversation = event.conversation",
        f"{DISPATCH}rows_of_a_run_and_of_a_stop_request_identify_no_person",
    ),
    Mutant(
        "the head is read before the frames",
        "journal/log.py",
        "    known = await known_frames(run, store)\n    stored = await store.frames(run)\n",
        "    stored = await store.frames(run)\n    known = await known_frames(run, store)\n",
        f"{LOG}journal_that_grows_during_a_read_is_not_reported_corrupt",
    ),
    Mutant(
        "no acknowledgement before the frames",
        "runtime/worker.py",
        "        head = await self.services.store.head(queue_message.run)\n        # Also",
        "        await self.queue.acknowledge(queue_message)\n"
        "        head = await self.services.store.head(queue_message.run)\n        # Also",
        "unit/runtime/test_worker_in_trouble.py::test_run_that_cannot_be_written_resumes_when_there_is_room",
    ),
    Mutant(
        "nothing new after a cancel",
        "engine/owned_run.py",
        "if (cancelled := self.progress.cancelled) and self.progress.stopping:",
        "if (cancelled := self.progress.cancelled) and False:",
        "unit/runtime/test_owner.py::test_run_cancelled_during_a_model_call_makes_no_further_call_but_the_answer",
    ),
    Mutant(
        "a run that loses every worker ends",
        "projections/attempts.py",
        "return self.crashed >= CRASHES or",
        "return False or",
        "unit/runtime/test_owner.py::test_run_that_crashes_every_worker_fails_as_poison_with_one_notice",
    ),
    Mutant(
        "a worker whose time is nearly over begins nothing new",
        "engine/owned_run.py",
        "if self.deadline.over or (self._begun and seconds > self.deadline.left):",
        "if False:",
        "unit/runtime/test_owner.py::test_worker_near_the_deadline_hands_over_and_the_next_worker_resumes",
    ),
    Mutant(
        "a button that Gofer did not make",
        "sources/signed_decision.py",
        "if not any(hmac.compare_digest(_mac(one, said), mac) for one in key.every):",
        "if not said:",
        f"{APPROVAL}approval_button_of_another_installation_is_refused",
    ),
    Mutant(
        "the right person decides",
        "engine/approval_question.py",
        "if self._approvals.allowed(as_object(details)):",
        "if True:",
        f"{APPROVAL}approval_click_of_the_wrong_person_is_refused_and_the_run_keeps_waiting",
    ),
    Mutant(
        "an approval is used once",
        "engine/approvals.py",
        "if (one.about, one.call) == name)",
        "if one.about == name[0])",
        f"{APPROVAL}approval_is_used_once_and_a_repeated_call_needs_another_approval",
    ),
    Mutant(
        "a press that comes in while another one is looked at",
        "engine/approvals.py",
        "    while click := _open_click(step, name):\n",
        "    for click in [one for one in (_open_click(step, name),) if one]:\n",
        f"{APPROVAL}approval_click_received_while_another_click_is_checked_is_processed_too[1]",
    ),
    Mutant(
        "what was decided is not decided again",
        "engine/approvals.py",
        "    if step.progress.approvals[name].decided is None:\n",
        "    if True:\n",
        f"{APPROVAL}approved_call_happens_once_with_a_crash_at_any_frame",
    ),
    Mutant(
        "a press after its time does not count",
        "engine/approval_question.py",
        "if click.at > self.requested.until:",
        "if False:",
        f"{APPROVAL}approval_click_after_the_expiry_does_not_count",
    ),
    Mutant(
        "a request expires",
        "engine/approvals.py",
        "if step.now_ms() < requested.until:",
        "if True:",
        f"{APPROVAL}approval_without_a_decision_in_time_counts_as_denied",
    ),
    Mutant(
        "a write elsewhere is asked for",
        "engine/place_rules.py",
        "    if known.home or known.listed or known.own:\n",
        "    if True:\n",
        "unit/engine/test_place_rules_with_approvals.py::test_public_run_asks_before_writing_where_the_requester_is_no_member",
    ),
    Mutant(
        "what leaves a private channel is asked for",
        "engine/call_checks.py",
        "if event is not None and _leaves(step, item, event):",
        "if False:",
        "unit/engine/test_place_rules_with_approvals.py::test_private_run_asks_the_requester_before_writing_elsewhere[asked0]",
    ),
    Mutant(
        "the memo before the frame of the intent",
        "engine/call_checks.py",
        "            return await once.claim(step, item)\n",
        '            __import__("asyncio").get_running_loop().create_task(once.claim(step, item))\n',
        f"{ONCE}crash_between_claim_and_intent_leaves_the_effect_to_this_or_the_next_run[False-run1/1.0]",
    ),
    Mutant(
        "a claim that was taken over keeps its key",
        "engine/once.py",
        "mine = replace(held, holder=own)",
        "mine = first",
        f"{ONCE}repeatedly_taken_over_claim_keeps_the_original_key",
    ),
    Mutant(
        "an owner that replaces a claim of its run confirms that it still owns the run",
        "engine/once.py",
        "        await step.confirm_ownership()\n",
        "        pass\n",
        f"{ONCE}owner_that_lost_its_run_does_not_replace_a_claim_of_the_next_owner",
    ),
    Mutant(
        "an owner that finds its own claim changes the memo",
        "engine/once.py",
        "since=held.since - 1",
        "since=held.since",
        f"{ONCE}owner_that_freezes_before_the_exchange_does_not_replace_a_claim_of_the_next_owner",
    ),
    Mutant(
        "what comes for a subagent that answered is no news",
        "journal/child_runs.py",
        'running.pop(entry.get("call"), None)',
        "pass",
        "unit/journal/test_child_runs.py::test_inbox_item_of_a_subagent_is_news_only_while_the_subagent_works",
    ),
    Mutant(
        "a memo is exchanged and not overwritten",
        "engine/once.py",
        "stored = await store.exchange_memo(key, stored, str(mine), step.now_ms())",
        "stored = await store.put_memo(key, str(mine), step.now_ms()) or str(mine)",
        f"{ONCE}run_with_a_stale_look_at_the_claim_finds_the_effect_claimed",
    ),
    Mutant(
        "the exchange of memos in the file",
        "stores/sqlite/counts.py",
        '"INSERT INTO memos VALUES (?, ?, ?) ON CONFLICT DO NOTHING"',
        '"INSERT INTO memos VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = ?2"',
        "contracts/test_store.py::test_concurrent_memo_exchange_has_one_winner_returned_to_all[sqlite]",
    ),
    *OF_DOUBT,
    *OF_KEYS,
    *OF_OUTAGES,
    *OF_TRUST,
    *ON_AWS,
)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of pytest on a copy: its exit code, 1 for failed tests, and its last lines."""

    code: int
    said: str


def copied(folder: Path, mutant: Mutant | None = None) -> Path:
    """Return a copy of the source in `folder`, changed by the mutant. Raise ValueError as `without_its_rule` does."""
    copy = folder / "src"
    # Bytecode is copied too: only changed files are compiled again.
    for package in ("gofer", "gofer_simulators"):
        shutil.copytree(ROOT / "src" / package, copy / package)
    (copy / f"{PROBE}.py").write_text(_PROBE_SOURCE)
    if mutant is not None:
        (copy / "gofer" / mutant.file).write_text(without_its_rule(mutant))
    return copy


def without_rules(folder: Path, mutants: Sequence[Mutant]) -> Path:
    """Return a copy of the source without the rules of all these mutants, where another one did not change the text."""
    copy = copied(folder)
    for mutant in mutants:
        file = copy / "gofer" / mutant.file
        if (text := file.read_text()).count(mutant.source) == 1:
            file.write_text(text.replace(mutant.source, mutant.instead))
    return copy


def without_its_rule(mutant: Mutant) -> str:
    """Return the text of a mutant's file without its rule. Raise ValueError when the text is not there once."""
    text = (ROOT / "src" / "gofer" / mutant.file).read_text()
    if (times := text.count(mutant.source)) != 1:
        raise ValueError(f"{mutant.file} has what keeps {mutant.rule!r} {times} times; name it anew in its table.")
    return text.replace(mutant.source, mutant.instead)


def judged(copy: Path, tests: Sequence[str], *more: str) -> Verdict:
    """Run tests on a copy of the source, in a process of its own; `more` are options of pytest."""
    nodes = [f"{ROOT / 'tests'}/{test}" for test in tests]
    options = ["-p", PROBE, "-p", "no:cacheprovider", "-W", "ignore", "--no-header", *more]
    path = os.pathsep.join([str(copy), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, *nodes],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "GOFER_COPY": str(copy)},
        capture_output=True,
        check=False,
        text=True,
        timeout=120,
    )
    return Verdict(done.returncode, (done.stdout + done.stderr)[-3_000:])


def verdicts(folder: Path) -> Mapping[str, Verdict]:
    """Return the verdict of the named test on each mutant by rule; two processes at a time."""

    def judge(numbered: tuple[int, Mutant]) -> Verdict:
        number, mutant = numbered
        return judged(copied(folder / str(number), mutant), [mutant.test])

    with ThreadPoolExecutor(2) as pool:
        said = list(pool.map(judge, enumerate(MUTANTS)))
    return {mutant.rule: verdict for mutant, verdict in zip(MUTANTS, said, strict=True)}


def caught(folder: Path) -> list[str]:
    """Return the rules whose mutants fail their test, in the order of the table."""
    return [rule for rule, verdict in verdicts(folder).items() if verdict.code == 1]
