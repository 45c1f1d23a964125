"""The reading of a Slack message: every part that Slack publishes, once, within limits, in two parts."""

from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gofer.sources.slack.attached_files import FILE, lines_of
from gofer.sources.slack.block_text import BLOCKS, COLUMNS, ELEMENTS, ROWS
from gofer.sources.slack.message_text import ATTACHMENT, SUBTYPES, files_of, read
from gofer.sources.slack.names import Names
from gofer.sources.slack.read_thread import MESSAGE_LIMIT, render, text_lines
from gofer.sources.slack.rich_text import RICH
from gofer.sources.vocabulary import Vocabulary
from gofer.values.canonical_json import as_list

NAMES = Names({"U0000001": "Ada"})

Json = Mapping[str, object]


def shown(**message: object) -> Sequence[str]:
    return text_lines(read(message), NAMES)


def rich(*elements: Json) -> list[Json]:
    return [{"type": "rich_text", "elements": list(elements)}]


def section(*parts: Json) -> Json:
    return {"type": "rich_text_section", "elements": list(parts)}


def word(text: str, **style: bool) -> Json:
    return {"type": "text", "text": text, "style": style}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def table(*rows: Sequence[str], kind: str = "table") -> Json:
    return {"type": kind, "rows": [[{"type": "raw_text", "text": cell} for cell in row] for row in rows]}


ALERT = {
    "color": "a30200",
    "fallback": "[FIRING:1] QueueFull",
    "pretext": "<!here> please look",
    "author_name": "Alert\nmanager",
    "author_link": "https://alerts.example.com",
    "title": "[FIRING:1] QueueFull",
    "title_link": "https://alerts.example.com/a/17",
    "text": "*Queue:* payments has 40,000 messages",
    "fields": [{"title": "Severity", "value": "critical", "short": True}, {"title": "", "value": "eu-west-1"}],
    "actions": [{"type": "button", "text": "Silence", "url": "https://alerts.example.com/s", "value": "secret"}],
    "image_url": "https://alerts.example.com/g.png",
    "thumb_url": "https://alerts.example.com/t.png",
    "footer": "production",
    "ts": 1795240000,
    "mrkdwn_in": ["text"],
    "id": 1,
}


def test_alert_in_an_attachment_is_read_with_title_text_fields_and_links() -> None:
    assert shown(text="", attachments=[ALERT]) == [
        "[attachment by Alert manager, https://alerts.example.com:]",
        "| @here please look",
        "| [FIRING:1] QueueFull (https://alerts.example.com/a/17)",
        "| *Queue:* payments has 40,000 messages",
        "| Severity: critical",
        "| eu-west-1",
        "| (image: https://alerts.example.com/g.png)",
        "| (a small picture)",
        "| (button: Silence, https://alerts.example.com/s)",
        "| production",
        "| (2026-11-21 05:46 UTC)",
    ]


def test_attachment_without_any_text_shows_its_fallback_or_says_so() -> None:
    assert shown(attachments=[{"fallback": "CPU at 97 %"}]) == ["[attachment:]", "| CPU at 97 %"]
    graph = {"fallback": "CPU at 97 %", "image_url": "https://g.example/1.png", "footer": "Grafana", "hologram": [1]}
    lines = ["| CPU at 97 %", "| (image: https://g.example/1.png)", "| Grafana"]
    assert shown(attachments=[graph])[1:] == [*lines, "| (field that Gofer does not know: hologram)"]
    for empty in ({"fallback": "[no preview available]", "id": 1}, {"color": "good"}):
        assert shown(attachments=[empty]) == ["[attachment:]", "| (an attachment without text)"]


def test_object_of_another_system_is_read_with_title_fields_and_link() -> None:
    compact = {"title": {"text": "Broken <login>"}, "subtitle": {"text": "Issue EX-1 in Tracker"}}
    assignee = {"label": "Assignee", "field_type": "rich_text"}
    elements = [{**assignee, "rich_text": rich(section({"type": "user", "user_id": "U0000001"}))[0]}]
    entity = {"layouts": {"compact": compact}, "external_url": "https://t.example/EX-1"}
    attachment = {"from_url": "https://t.example/EX-1", "work_object_entity": entity}
    lines = ["[preview, https://t.example/EX-1:]", "| Broken <login>", "| Issue EX-1 in Tracker"]
    assert shown(attachments=[attachment]) == [*lines, "| https://t.example/EX-1"]
    expanded = {**compact, "fields": {"elements": elements}}
    entity["layouts"] = {"compact": {}, "expanded": expanded}
    assert shown(attachments=[attachment]) == [*lines, "| Assignee: @Ada", "| https://t.example/EX-1"]


def test_unknown_field_of_an_attachment_is_named() -> None:
    unknown = {"text": "hi", "hologram": [1], "subtitle": "two words", "bot_id": "B1", "image_width": 5}
    assert shown(attachments=[unknown])[2:] == [
        "| (field that Gofer does not know: hologram)",
        "| (field that Gofer does not know: subtitle)",
    ]


def test_blocks_of_an_app_are_read_and_a_repeated_title_is_not_shown_twice() -> None:
    blocks = [
        {"type": "header", "text": plain("Build 881 failed")},
        {
            "type": "section",
            "text": mrkdwn("Test *test_refund_once* failed in <https://ci.example.com/881|job 881>"),
            "fields": [mrkdwn("*Branch*\nrelease-7"), mrkdwn("*By*\n<@U0000001>")],
            "accessory": {"type": "image", "image_url": "https://ci.example.com/f.png", "alt_text": "3 of 412 failed"},
        },
        {"type": "divider"},
        {"type": "context", "elements": [mrkdwn("started at 7"), plain("by & for <all>")]},
    ]
    assert shown(text="Build 881 failed", blocks=blocks) == [
        "Build 881 failed",
        "Test *test_refund_once* failed in job 881 (https://ci.example.com/881)",
        "*Branch*",
        "release-7",
        "*By*",
        "@Ada",
        "(image: 3 of 412 failed, https://ci.example.com/f.png)",
        "started at 7 by & for <all>",
    ]
    assert shown(text="Build 881 failed\nask the owner", blocks=blocks)[:2] == ["ask the owner", "Build 881 failed"]


def test_text_of_a_person_is_shown_once_in_any_formatting() -> None:
    text = (
        "Please *check*\n• one\n• two\n    ◦ three\n1. first\n2. second\n    a. deep\n&gt; quoted &amp; done\n"
        "```a &lt; b```\n<https://x.example> <https://x.example/a|here> <@U0000001|ada> <#C0000001|general>"
        " :+1::skin-tone-2:\n—"
    )
    listed = {"type": "rich_text_list", "style": "bullet", "elements": [section(word("one")), section(word("two"))]}
    blocks = rich(
        section(word("Please "), word("check", bold=True), word("\n")),
        listed,
        {"type": "rich_text_list", "style": "bullet", "indent": 1, "elements": [section(word("three"))]},
        {"type": "rich_text_list", "style": "ordered", "elements": [section(word("first")), section(word("second"))]},
        {"type": "rich_text_list", "style": "ordered", "indent": 1, "elements": [section(word("deep"))]},
        {"type": "rich_text_quote", "elements": [word("quoted & done")]},
        {"type": "rich_text_preformatted", "elements": [word("a < b")]},
        section(
            {"type": "link", "url": "https://x.example"},
            word(" "),
            {"type": "link", "url": "https://x.example/a", "text": "here"},
            {"type": "user", "user_id": "U0000001"},
            {"type": "channel", "channel_id": "C0000001"},
            {"type": "emoji", "name": "+1", "skin_tone": 2},
            word("\n—"),
        ),
    )
    assert read({"text": text, "blocks": blocks}).written == text
    alone = shown(text="", blocks=blocks)
    assert alone[:9] == [
        "Please *check*",
        "",
        "• one",
        "• two",
        "    • three",
        "1. first",
        "2. second",
        "    1. deep",
        "> quoted & done",
    ]
    assert alone[9:] == [
        "```a < b```",
        "https://x.example here (https://x.example/a)@Ada#C0000001:+1::skin-tone-2:",
        "—",
    ]


@pytest.mark.parametrize(
    ("element", "text"),
    [
        (word("old", strike=True), "~old~"),
        (word("x = 1", code=True), "`x = 1`"),
        (word("<@U0000001> &amp;"), "<@U0000001> &amp;"),
        ({"type": "broadcast", "range": "here"}, "@here"),
        ({"type": "date", "timestamp": 1795240000, "format": "{date}"}, "2026-11-21 05:46 UTC"),
        (
            {"type": "date", "timestamp": 1795240000, "format": "{date}", "fallback": "Nov 21"},
            "Nov 21 (2026-11-21 05:46 UTC)",
        ),
        ({"type": "color", "value": "#f40"}, "#f40"),
        ({"type": "team", "team_id": "T1"}, "(workspace T1)"),
        ({"type": "canvas", "file_id": "F1", "label": "Plan"}, "(canvas: Plan, F1)"),
        ({"type": "work_object_mention", "text": "T-1", "url": "https://t.example/1"}, "T-1 (https://t.example/1)"),
        ({"type": "list_record", "file_id": "F1"}, "(list record: F1)"),
        ({"type": "hologram", "x": 1}, "(element of a rich text that Gofer does not know: hologram)"),
    ],
)
def test_element_of_a_rich_text_is_read_or_named(element: Json, text: str) -> None:
    assert shown(blocks=rich(section(element))) == [text]


BUTTON = {"type": "button", "text": plain("See"), "url": "https://j.example", "value": "secret"}
TASK = {"type": "task_card", "title": "Test", "status": "error", "output": rich(section(word("3 failed")))[0]}
CARD = {"type": "card", "title": mrkdwn("PAY-1"), "body": mrkdwn("open"), "actions": [BUTTON]}
MENU = {
    "type": "static_select",
    "placeholder": plain("Level"),
    "options": [{"text": plain("P1"), "description": plain("now"), "value": "x"}, {"text": plain("P2")}],
    "initial_option": {"text": plain("P2")},
}
FIELD = {"type": "plain_text_input", "initial_value": "late"}
BARS = {"type": "bar", "series": [{"name": "db", "data": [{"label": "Mon", "value": 3}, {"label": "Tue", "value": 4}]}]}
PIE = {"type": "pie", "segments": [{"label": "A", "value": 4.5}]}
CALL = {"v1": {"name": "Standup", "join_url": "https://c.example"}}
PICTURE = {"slack_file": {"url": "https://s.example"}, "title": plain("Load")}


@pytest.mark.parametrize(
    ("kind", "fields", "lines"),
    [
        (
            "markdown",
            {"text": "## Done\n[log](https://x.example/a) a < b & <@U0000001>"},
            ["## Done", "log (https://x.example/a) a < b & @Ada"],
        ),
        ("image", PICTURE, ["(image: Load, https://s.example)"]),
        ("video", {"title": plain("Demo"), "video_url": "https://v.example"}, ["(video: Demo, https://v.example)"]),
        ("plan", {"title": "Deploy", "tasks": [TASK]}, ["Deploy", "(error) Test", "3 failed"]),
        ("carousel", {"elements": [CARD]}, ["PAY-1", "open", "(button: See, https://j.example)"]),
        ("container", {"title": "Logs", "child_blocks": [{"type": "header", "text": plain("db-3")}]}, ["Logs", "db-3"]),
        ("alert", {"level": "error", "text": plain("Down")}, ["error Down"]),
        ("data_visualization", {"title": "Load", "chart": BARS}, ["(bar chart: Load)", "db: Mon 3, Tue 4"]),
        ("data_visualization", {"title": "Share", "chart": PIE}, ["(pie chart: Share)", "A 4.5"]),
        (
            "actions",
            {"elements": [MENU, {"type": "hologram"}]},
            ["(menu: Level, P1 – now, P2; chosen: P2) (block that Gofer does not know: hologram)"],
        ),
        ("input", {"label": plain("Why"), "element": FIELD}, ["Why (field; chosen: late)"]),
        ("call", {"call": CALL}, ["(call: Standup, https://c.example)"]),
        ("file", {"source": "remote", "external_id": "A1"}, ["(file)"]),
        ("auth_provider", {}, ["(a sign-in to another system)"]),
        ("hologram", {"text": "x"}, ["(block that Gofer does not know: hologram)"]),
        ("", {"text": "x"}, ["(block that Gofer does not know: without a type)"]),
    ],
)
def test_block_is_read_or_named(kind: str, fields: Json, lines: Sequence[str]) -> None:
    assert shown(blocks=[{"type": kind, **fields}]) == lines


def test_pasted_table_is_read_row_by_row() -> None:
    pasted = table(["Service", "Errors"])
    cell = {**rich(section(word("check\nout")))[0]}
    rows = [*as_list(pasted["rows"]), [cell, {"type": "raw_number", "value": 1204}, None]]
    attachment = {"fallback": "[no preview available]", "blocks": [{**pasted, "rows": rows}]}
    assert shown(text="the numbers", attachments=[attachment]) == [
        "the numbers",
        "[attachment:]",
        "| Service | Errors",
        "| check out | 1204 | ",
    ]


def test_wide_and_long_table_is_cut_and_its_size_is_told() -> None:
    wide = table(*[[f"c{column}" for column in range(200)] for _ in range(ROWS + 300)], kind="data_table")
    *rows, note = read({"blocks": [wide]}).written.split("\n")
    read_part = f"the first {ROWS} rows and {COLUMNS} columns"
    assert note == f"(The table has {ROWS + 300} rows and 200 columns; above are {read_part}.)"
    assert len(rows) == ROWS
    assert rows[0].split(" | ")[-1] == f"c{COLUMNS - 1}"


def test_message_of_3000_blocks_ends_in_readable_text_that_counts_the_rest() -> None:
    blocks = [{"type": "section", "text": mrkdwn(f"line {number}")} for number in range(3_000)]
    lines = shown(text="Report\n" * 3_000, blocks=blocks)
    assert "line 0" in shown(text="Report", blocks=blocks)
    assert lines[-1].endswith("further characters of this message are left out.]")
    assert sum(map(len, lines)) < MESSAGE_LIMIT + 100


FORWARDED = {
    "is_share": True,
    "author_name": "Grace",
    "from_url": "https://acme.slack.com/archives/C0SUPPORT/p1795240000000100?thread_ts=1795240000.000100&cid=C0SUPPORT",
    "text": "The export is empty",
    "ts": "1795240000.000100",
    "files": [{"id": "F1", "name": "export.csv", "mimetype": "text/csv", "size": 210, "mode": "hosted"}],
    "message_blocks": [
        {
            "message": {
                "blocks": [{"type": "section", "text": mrkdwn("The export is empty\nsee <@U0000001>")}],
                "attachments": [{"title": "Disk of db-3 is 97 % full", "author_name": "Alerting"}],
                "files": [{"id": "F2", "name": "log.txt", "mode": "tombstone"}],
            }
        }
    ],
}  # fmt: skip


def test_forwarded_message_is_read_with_its_blocks_its_attachments_and_its_files() -> None:
    message = {"text": "deal with this", "attachments": [FORWARDED]}
    assert shown(**message) == [
        "deal with this",
        f"[shared message by Grace, {FORWARDED['from_url']}:]",
        "| The export is empty",
        "| see @Ada",
        "| [attachment by Alerting:]",
        "| Disk of db-3 is 97 % full",
        "| (2026-11-21 05:46 UTC)",
        '| [file: "export.csv", text/csv, 210 bytes]',
        '| [file: "log.txt", text/plain; it was deleted]',
    ]
    assert [file["id"] for file in files_of(message)] == ["F1", "F2"]


def test_attachments_of_a_forwarded_message_are_read_with_their_heading() -> None:
    alert = {"title": "[FIRING:1] QueueFull", "fields": [{"title": "Severity", "value": "critical"}]}
    forwarded = {"is_share": True, "author_name": "Alerting", "text": "", "attachments": [alert]}
    assert shown(text="look", attachments=[forwarded]) == [
        "look",
        "[shared message by Alerting:]",
        "| [attachment:]",
        "| [FIRING:1] QueueFull",
        "| Severity: critical",
    ]


def test_messages_forwarded_within_each_other_are_read_three_deep() -> None:
    message: dict[str, object] = {"text": "the core"}
    for number in range(8):
        inner = {"is_share": True, "message_blocks": [{"message": message}]}
        message = {"text": f"level {number}", "attachments": [inner]}
    lines = shown(**message)
    assert "| level 5" in lines
    assert "| (forwarded messages within each other, more than Gofer reads)" in lines
    assert not any("level 1" in line for line in lines)


def clip(**transcription: object) -> Json:
    return {"id": "F1", "name": "clip.m4a", "mimetype": "audio/mp4", "transcription": transcription}


@pytest.mark.parametrize(
    ("file", "told"),
    [
        (clip(status="complete", preview={"content": "Restart\nit"}), ["| transcript: Restart it"]),
        (
            clip(status="complete", preview={"content": "Restart", "has_more": True}),
            ["| transcript: Restart (Slack has more of the transcript.)"],
        ),
        (clip(status="processing"), ["| transcript: none from Slack (processing)"]),
        ({"name": "a.png", "title": "Load of db-3", "alt_txt": "a"}, ["| title: Load of db-3", "| description: a"]),
        ({"name": "a.mp4", "title": "a", "duration_ms": 8_000}, ["| length: 8 seconds"]),
        ({"name": "a.txt", "mode": "external", "preview": "hello"}, ["| beginning: hello"]),
        ({"id": "F1", "name": "a.txt", "mimetype": "text/plain", "mode": "snippet", "preview": "hello"}, []),
        (
            {"id": "F1", "name": "Plan", "mode": "quip", "preview": "<h1>Goals</h1><p>1 &lt; 2"},
            ["| beginning: Goals 1 < 2"],
        ),
        ({"id": "F1", "name": "Post", "mimetype": "text/plain", "mode": "space", "preview": "hi"}, ["| beginning: hi"]),
        (
            {"id": "F1", "name": "v.m4a", "mimetype": "audio/mp4", "preview_plain_text": "Bob here", "preview": "<p>"},
            ["| beginning: Bob here"],
        ),
        ({"id": "F1", "name": "v.m4a", "preview_plain_text": "Bob here"}, ["| beginning: Bob here"]),
        (
            {
                "name": "Re.eml",
                "subject": "Late",
                "from": [{"original": "Ada <ada@x.example>"}],
                "plain_text": "We\nare",
                "attachments": [{"filename": "a.pdf"}, {"filename": "b.pdf"}],
            },
            ["| subject: Late", "| from: Ada <ada@x.example>", "| text: We are", "| attached: a.pdf, b.pdf"],
        ),
        (
            {"name": "plan", "mode": "external", "external_url": "https://d.example/1"},
            ["| address: https://d.example/1"],
        ),
    ],
)
def test_transcript_and_other_facts_of_a_file_are_below_its_line(file: Json, told: Sequence[str]) -> None:
    assert list(lines_of([file], ()))[1:] == told


def test_message_without_text_is_named_by_its_subtype() -> None:
    told = {"huddle_thread": "(a huddle)", "hologram": "(message subtype that Gofer does not know: hologram)"}
    for subtype, words in {**told, "file_share": "(no text)", "": "(no text)"}.items():
        message = {"ts": "1.0", "user": "U0000001", "text": "", "subtype": subtype}
        assert render("c", [message], NAMES).endswith(f"\n    {words}")


@pytest.mark.parametrize("vocabulary", [BLOCKS, ELEMENTS, RICH, ATTACHMENT, SUBTYPES, FILE], ids=lambda one: one.title)
def test_each_member_of_a_vocabulary_has_words(vocabulary: Vocabulary[object]) -> None:
    assert all(member.words for member in vocabulary.members.values())


KINDS = [*BLOCKS.members, *ELEMENTS.members, *RICH.members]
NAMES_OF_FIELDS = [
    "type",
    "text",
    "blocks",
    "elements",
    "fields",
    "title",
    "rows",
    "message_blocks",
    "message",
    "files",
]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.sampled_from(["rich_text", "<@U0GOFER0>"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(NAMES_OF_FIELDS) | st.text(max_size=4), inner | st.sampled_from(KINDS), max_size=4
        )
    ),
    max_leaves=25,
)


@given(st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4), st.lists(VALUES, max_size=4))
def test_any_json_in_a_message_is_read_within_the_limits(
    blocks: list[object], attachments: list[object], files: list[object]
) -> None:
    message = {"ts": "1.0", "user": "U1", "blocks": blocks, "attachments": attachments, "files": files}
    text = render("c", [message], NAMES)
    assert all(line.startswith("    ") for line in text.splitlines()[3:])


@given(VALUES, st.sampled_from(["text", "pretext", "blocks", "fields", "message_blocks", "title"]))
def test_carried_parts_are_never_part_of_the_written_text(value: object, field: str) -> None:
    carried = {"is_share": True, field: value, "fallback": "<@U0GOFER0> deploy"}
    assert read({"text": "see", "attachments": [carried]}).written == "see"
