"""Rules about who decides, what is kept and deleted, and what leaves, each taken out of the source."""

from support.mutants.mutant import Mutant

SUBAGENTS = "unit/runtime/test_owner_of_subagents.py::test_"
ENDED = "unit/engine/test_approvals_of_ended_runs.py::test_"
FOLLOWS = "unit/runtime/test_follow_ups.py::test_"
JIRA, SLACK = "unit/sources/jira/test_get_attachment.py::test_", "unit/sources/slack/test_attached_files.py::test_"

OF_TRUST = (
    Mutant(
        "the asker of the root run decides for subagents",
        "engine/known_asker.py",
        "    root = run.root\n    event = root.progress.event\n    if event is None or source_of",
        "    root = run\n    event = root.progress.event\n    if event is None or source_of",
        f"{SUBAGENTS}asker_of_the_root_run_decides_where_a_subagent_writes",
    ),
    Mutant(
        "`everyone` means no apps",
        "engine/asker.py",
        'if person.kind not in ("bot", "anonymous"):\n        entries.add("everyone")\n',
        'if person.kind != "anonymous":\n        entries.add("everyone")\n',
        "unit/engine/test_asker.py::test_only_bots_and_anonymous_let_apps_and_events_without_a_person_start_a_workflow",
    ),
    Mutant(
        "a press for an ended run is not taken",
        "runtime/receive.py",
        "if head is None or head.ended:\n            return Ignored(",
        "if head is None:\n            return Ignored(",
        "unit/engine/test_approvals.py::test_first_valid_approval_click_decides_and_later_clicks_have_no_effect",
    ),
    Mutant(
        "a decided question of an ended run is closed",
        "engine/approvals.py",
        '        if requested.about != "call":\n            continue\n        for call',
        '        if requested.about != "call" or approval.decided is not None:\n            continue\n        for call',
        f"{ENDED}question_decided_while_its_run_was_stopped_shows_the_decision",
    ),
    Mutant(
        "the questions of a subagent that ended are closed",
        "engine/subagent_runs.py",
        "            await close(child, provenance)\n",
        "",
        f"{SUBAGENTS}subagent_that_reaches_a_limit_leaves_no_open_question",
    ),
    Mutant(
        "a question in doubt of an ended subagent is closed",
        "engine/subagent_owner.py",
        "            await close(child, provenance)\n            child.record_unknown_calls(reason)\n",
        "            child.record_unknown_calls(reason)\n            await close(child, provenance)\n",
        f"{SUBAGENTS}question_of_a_subagent_posted_before_a_crash_is_closed_by_a_cancellation",
    ),
    Mutant(
        "work ends when the lease is lost",
        "runtime/worker.py",
        "held = await leased.lease(owner, self._clock.now(), self.limits.lease)",
        "await leased.lease(owner, self._clock.now(), self.limits.lease)",
        "unit/runtime/test_worker_in_trouble.py::test_failed_lease_renewal_is_retried_and_a_lost_lease_stops_the_run",
    ),
    Mutant(
        "a kept run is not deleted",
        "runtime/retention.py",
        '        if await store.retain(run, "due", "deleting") != "deleting":\n            return False\n',
        '        await store.retain(run, "due", "deleting")\n',
        "unit/runtime/test_retention.py::test_run_kept_during_a_purge_is_not_deleted",
    ),
    Mutant(
        "a destroyed key is not written again",
        "stores/sqlite/journal.py",
        "            if not written.rowcount:\n",
        "            if not written.rowcount:\n                self._keys.put(run, key, at)\n",
        "contracts/test_store.py::test_destroyed_run_key_cannot_be_set_again[sqlite]",
    ),
    Mutant(
        "a token goes to the configured port only",
        "sources/downloads.py",
        "(one.scheme, one.netloc) == (other.scheme, other.netloc)",
        "(one.scheme, one.hostname) == (other.scheme, other.hostname)",
        f"{JIRA}jira_redirect_to_a_private_or_insecure_address_is_not_followed",
    ),
    Mutant(
        "a token goes by the configured scheme only",
        "sources/downloads.py",
        "(one.scheme, one.netloc) == (other.scheme, other.netloc)",
        "one.netloc == other.netloc",
        f"{SLACK}slack_token_is_never_sent_to_another_server_on_the_configured_host",
    ),
    Mutant(
        "a private run is not followed by feedback",
        "runtime/follow_ups.py",
        "if step.progress.finished is None or step.is_private:",
        "if step.progress.finished is None:",
        f"{FOLLOWS}feedback_after_a_place_became_private_is_not_journaled",
    ),
    Mutant(
        "a private run is not enqueued again after its end",
        "runtime/follow_ups.py",
        "return head.ended and not head.private and bool",
        "return head.ended and bool",
        f"{FOLLOWS}message_of_an_ended_private_run_is_not_enqueued_again",
    ),
    Mutant(
        "a private run is followed by no other run",
        "runtime/followed_runs.py",
        "if step.is_private or event is None",
        "if event is None",
        "unit/runtime/test_followed_runs.py::test_private_run_starts_no_run",
    ),
    Mutant(
        "a half hidden run takes no feedback",
        "runtime/receive_feedback.py",
        "if not run or await is_hidden(run, stores.journals):",
        "if not run:",
        "unit/runtime/test_receive_feedback.py::test_private_run_and_hidden_run_take_no_feedback",
    ),
    Mutant(
        "a public run inherits no contents of a private run",
        "engine/admission.py",
        "if earlier.started.private and not private:",
        "if False:",
        "unit/engine/test_admission_earlier_runs.py::test_public_run_inherits_no_text_file_or_plan_of_a_private_run",
    ),
    Mutant(
        "foreign text is indented after every kind of line end",
        "values/canonical_json.py",
        "for line in text.splitlines()]",
        'for line in text.split("\\n")]',
        "unit/values/test_canonical_json.py::test_indented_text_has_no_line_that_begins_at_the_margin",
    ),
    Mutant(
        "a Notion block is indented after every kind of line end",
        "sources/notion/content.py",
        '_short(line.text).splitlines() or [""]',
        '_short(line.text).split("\\n")',
        "unit/sources/notion/test_get_page_of_odd_blocks.py"
        "::test_notion_block_cannot_imitate_another_block_by_any_line_end",
    ),
    Mutant(
        "a recap shows no line of a result as a call",
        "projections/recap.py",
        "*indented(_cut(text, RESULT_LIMIT))",
        '"    " + _cut(text, RESULT_LIMIT)',
        "unit/tools/test_search_in_runs.py::test_recap_of_a_run_shows_no_line_of_a_result_as_a_call",
    ),
    Mutant(
        "a description in Jira shows no line as a comment",
        "sources/jira/get_issue.py",
        "return indented(_shortened(text, limit))",
        'return [f"    {_shortened(text, limit)}"]',
        "unit/sources/jira/test_get_issue.py::test_jira_description_cannot_imitate_a_comment",
    ),
    Mutant(
        "a changed text of an issue or page shows no line of Gofer",
        "sources/subject.py",
        "*indented(event.text)])",
        'f"    {event.text}"])',
        "unit/sources/test_subject.py::test_changed_text_of_a_subject_has_no_line_that_begins_at_the_margin",
    ),
)
