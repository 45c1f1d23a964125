"""Generated journals: entries in an order in which a run may write them, in frames of any size."""

from dataclasses import replace
from typing import get_args

from hypothesis import strategies as st

from gofer.journal import entries as e
from gofer.journal import subagent_entries as s
from gofer.journal import workspace_entries as w
from gofer.journal.approval_entries import About, Decision
from gofer.journal.check_entries import Verdict
from gofer.journal.entries import Entry, Recorded
from gofer.journal.grade_entries import Grade
from gofer.projections import conversation
from gofer.values.messages import Media, ToolAsk, Usage
from support.stand_ins import mention


class GeneratedJournal:
    """A journal under construction, with entries in an order in which a run may write them."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.entries: list[Entry] = [e.RunAccepted(mention(), "w"), e.RunOwned()]
        self.turn = 0

    def maybe(self) -> bool:
        return self.draw(st.integers(0, 3)) == 0

    def generate(self) -> list[Entry]:
        self.call("context/1", "read")
        self.entries += [e.RunStarted("b", self.draw(st.booleans())), e.MessageReceived("begin")]
        if self.draw(st.booleans()):
            self.script()
        else:
            for _ in range(self.draw(st.integers(0, 3))):
                self.ask()
        self.meanwhile()
        self.entries.append(e.RunConcluded(self.draw(st.sampled_from(get_args(e.Status))), "", "the answer"))
        self.call("answer/1", "lookup")
        self.entries.append(e.RunFinished(self.draw(st.sampled_from(get_args(e.Status)))))
        self.entries.append(e.RunChecked((Verdict("no-tool-loops", self.draw(st.booleans())),)))
        if self.maybe():
            grade = Grade("tools.required", self.draw(st.booleans()), "look is called", "not called", "1.0")
            self.entries.append(e.RunGraded("answers/basic", 1, "failed", "recorded", "b", (grade,)))
        if self.maybe():
            self.entries.append(e.FeedbackGiven(self.draw(st.sampled_from(["good", "bad"])), "U1", item="feedback-1"))
            self.entries.append(e.RunReviewed(self.draw(st.booleans()), "It answered.", item="review"))
        return self.entries

    def compact(self) -> None:
        """Compact the history up to some answer of the model."""
        state = conversation.project(Recorded(1, i, 0, "me", entry) for i, entry in enumerate(self.entries))
        ends = [start for start in state.starts if start > 1]
        if not ends or state.asks:
            return
        end = self.draw(st.sampled_from(ends))
        turns, first = (state.folded + 1, state.folded + 1), self.draw(st.integers(0, 1))
        self.entries.append(w.ContextCompacted("what was", "history_1", first, end - first, turns, "model"))

    def ask(self) -> None:
        """Add a model call with deferrals, and the outcomes of its tool calls in any order."""
        self.meanwhile()
        if self.draw(st.booleans()):
            self.compact()
        self.request()
        while self.maybe():
            self.entries.append(e.CallDeferred("model", "busy", self.draw(st.sampled_from([0, 90_000]))))
            self.meanwhile()
            self.request()
        self.turn += 1
        calls = [f"{self.turn}.{index}" for index in range(self.draw(st.integers(0, 4)))]
        asks = tuple(ToolAsk(f"c{call}", "tool", "{}") for call in calls)
        self.entries.append(e.LlmResponse("text", asks, "stop", "m", Usage(1, 1, 0), None, 5))
        together = [call for call in calls if self.draw(st.booleans())]
        self.entries += [e.ToolCall(call, "tool", "read") for call in together]
        for call in self.draw(st.permutations(calls)):
            self.meanwhile()
            if call in together:
                if self.maybe():
                    self.agent(call)
                self.outcome(call)
            elif self.maybe():
                self.entries.append(e.ToolResult(call, "refused", "no"))
            elif self.maybe() and not self.approved(call):
                self.entries.append(e.ToolResult(call, "refused", "denied", details={"code": "denied"}))
            else:
                self.call(call, self.draw(st.sampled_from(get_args(e.Effect))))

    def script(self) -> None:
        """Add entries of a script: subagents that may be asked twice, recorded values, and calls of two branches."""
        self.entries.append(e.ValueRecorded("0:now:1", 1.5))
        asked = e.SubagentStarted("0:subagent.s:ab:1", "s", "prompt", {"model": "m"})
        self.entries.append(asked)
        if self.draw(st.booleans()):
            self.entries.append(e.CallDeferred(asked.call, "busy", 90_000))
            self.meanwhile()
            self.entries.append(asked)
        status = self.draw(st.sampled_from(["ok", "error"]))
        self.entries.append(e.SubagentFinished(asked.call, status, "text", "m", Usage(1, 1, 0), None, 5))
        self.agent("0:subagent.a:cd:1")
        calls = [f"0.1-{index}:tool:ab:1" for index in range(2)]
        self.entries += [e.ToolCall(call, "tool", self.draw(st.sampled_from(get_args(e.Effect))), {}) for call in calls]
        for call in self.draw(st.permutations(calls)):
            self.meanwhile()
            self.outcome(call)
        if self.maybe():
            self.entries.append(e.ToolResult("0:tool:cd:1", "refused", "no"))

    def agent(self, call: str) -> None:
        """Add a subagent run, which may be resumed and may end."""
        run, part = f"run1.{len(self.entries)}", s.Slice(3, 4, 1_000, 0.1, 2.0)
        started = s.SubagentStarted(call, "a", "prompt", {}, run, ("file_1",), part)
        self.entries.append(started)
        if self.maybe():
            self.entries += [e.RunParked("approval", 90_000), e.RunOwned(), replace(started, resumed=1)]
        self.meanwhile()
        self.found()
        if self.maybe():
            return
        used = Usage(30, 3, 0)
        locked = self.draw(st.sampled_from([(), (("tool", "there"),)]))
        end = s.SubagentFinished(call, "ok", "text", "m", used, None, 5, "", run, 3, 2, locked, (s.Exchanged("m", 20),))
        self.entries.append(end)

    def approved(self, call: str) -> bool:
        """Add an approval of a call with its question, clicks and decision."""
        about = self.draw(st.sampled_from(get_args(About)))
        self.entries += [e.ApprovalRequested(call, "tool", "ab", ("@leads",), 90_000, about)]
        self.entries += [e.RunParked("approval", 90_000), e.RunOwned()]
        if self.maybe():
            click = e.ApprovalClicked(call, about, "ab", "approved", "U1", 5_000, f"i{len(self.entries)}")
            self.entries.append(click)
        self.meanwhile()
        decision = self.draw(st.sampled_from(get_args(Decision)))
        self.entries.append(e.ApprovalDecided(call, decision, "Ada", about=about))
        return decision == "approved"

    def request(self) -> None:
        self.entries.append(e.LlmRequest("1.0", "ab", {"model": "m"}, "]}"))

    def call(self, call: str, effect: e.Effect) -> None:
        self.entries.append(e.ToolCall(call, "tool", effect))
        self.meanwhile()
        self.outcome(call)

    def outcome(self, call: str) -> None:
        if self.maybe():
            self.found()
        result = e.ToolResult(call, self.draw(st.sampled_from(["ok", "error"])), "text", duration_ms=3)
        self.entries.append(self.draw(st.sampled_from([result, e.ToolUnknown(call, "nobody knows", "there")])))
        if self.maybe():
            self.entries.append(e.MessageReceived("to look at", media=(Media("file_1", "image/png", "AAAA"),)))

    def found(self) -> None:
        """Add facts about files, skills and the plan, right before the result of a call."""
        file = self.draw(st.sampled_from(["file_1", "file_2"]))
        first = self.draw(st.integers(1, 900))
        body = self.draw(st.sampled_from(["", "ab"]))
        gap = w.Missing(
            "pages", "pages 3 to 9", "one text holds 2 pages", "extract_file", {"first_page": 3}, document="file_1"
        )
        missing = self.draw(st.sampled_from([(), (gap,)]))
        facts: list[Entry] = [
            w.FileAdded(file, "notes.txt", "text/plain", 10, "Slack", body, missing=missing),
            w.FileRead(file, self.draw(st.sampled_from(["lines", "bytes", "pages", "matches"])), first, first + 50),
            w.SkillLoaded("routing"),
            w.PlanUpdated((w.Todo("1", "look", self.draw(st.sampled_from(get_args(w.TodoStatus)))),)),
        ]
        self.entries += [fact for fact in facts if self.draw(st.booleans())]

    def meanwhile(self) -> None:
        """Add entries that may occur between any two steps: owners, messages, cancellations and permits."""
        if not self.maybe():
            return
        between: list[list[Entry]] = [
            [e.MessageReceived("by the way", f"i{len(self.entries)}")],
            [e.RunCancelled("Ada", f"i{len(self.entries)}")],
            [e.RunRetried("Ada", f"i{len(self.entries)}")],
            [e.PermitRenewed()],
            [e.RunOwned()],
            [e.RunParked("quiet_time", 60_000), e.RunOwned()],
            [e.RunParked("model", 60_000), e.RunOwned()],
            [e.RunParked("earlier_run", 60_000), e.RunOwned()],
            [e.RunHandedOver(), e.RunOwned()],
        ]
        self.entries += self.draw(st.sampled_from(between))


@st.composite
def journals(draw: st.DrawFn) -> list[Recorded]:
    """Return the journal of a generated run, in frames of any size."""
    recorded: list[Recorded] = []
    n, i = 1, 0
    for entry in GeneratedJournal(draw).generate():
        recorded.append(Recorded(n, i, 1_000 * n, "me", entry))
        n, i = (n + 1, 0) if n == 1 or draw(st.booleans()) else (n, i + 1)
    return recorded
