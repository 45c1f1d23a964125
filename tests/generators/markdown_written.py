"""The golden file of the Markdown samples: the output of the writers for Slack, Jira and Notion for each.

`PYTHONPATH=tests python -m generators.markdown_written` writes unit/sources/markdown_written.json anew. A test compares the two, so a changed
document is a line in a diff for its reviewer.
"""

# ruff: noqa: E501

import json
from pathlib import Path
from typing import Any

from gofer.sources.jira.adf import document
from gofer.sources.jira.adf_text import adf_text
from gofer.sources.notion.markdown import blocks, comment_spans
from gofer.sources.notion.rich_text import rich_text
from gofer.sources.slack.fallback_text import fallback
from gofer.sources.slack.markdown import Cost
from gofer.sources.slack.parts import split
from gofer.tools.definition import Provenance
from gofer.values.errors import ToolError

GOLDEN = Path(__file__).parents[1] / "unit" / "sources" / "markdown_written.json"
NOWHERE = Provenance("w", "", "run1", None)
SMALL = Cost(characters=300, blocks=8, rows=5, cells=200)
"""A Slack with small messages, so that long samples are divided."""

SAMPLES = {
    "every form": """# Title

Some *words*, **bold `code`**, ~~gone~~ and a [link](https://acme.example/a?b=1).
Next line\\
after a break.

> ## quoted
> > twice
> | a | b |
> |---|---|
> | 1 | 2 |

1. one
   - two
     > said
   - # loud
2. three

   ```python
   x = 1
   ```

- [x] done
  - [ ] open

| h | i |
|---|---|
| **a** | ![pic](https://x.example/p.png) |

---
![](https://x.example/track.gif)

<b>html</b> [bad](javascript:alert(1))
""",
    "result": "## Result\n\nIt is **done** & _fine_, see [the plan](https://example.com/a_(b)?x=1&y=2) and `a<b`.\n\n"
    "1. first\n   - inner\n2. second\n\n| who | what |\n|---|---|\n| Ada | 3 |\n\n```sql\nselect 1\n```",
    "review": "## Review\n\n- one\n  - below\n- [x] done\n\n```py\nx = 1\n```\n\n---\n\n> so",
    "html": "<div>\nuse `List<A>` or List<String>, see <https://b.example> [x](<c d>)\n</div>\n\n```\na < b\n```",
    "html comment": "before <!-- hidden --> after\n\n<!-- a block -->\n\n<details>\n<summary>more</summary>\nwords\n</details>",
    "generic types": "`Map<String, Int>` or Map<String:Int> and std::vector<int>, <a@b.example>, <urn:isbn:1>",
    "bare addresses": "See https://a.example/x_y?z=1. **Or (https://b.example)** `https://c.example` www.d.example",
    "autolinks": "<https://a.example/x> <mailto:ada@acme.example> <HTTPS://B.example> <slack://channel?id=1>",
    "unsafe links": "[js](javascript:alert(1)) [slack](slack://x) [file](file:///etc/passwd) [data](data:text/plain,x) [](x)",
    "links": '[](https://e.com) [a\nb](https://e.com "title") [**bold** `code`](https://e.com/x) [HTTP](HTTP://E.com/a|b)',
    "unclosed links": "[a](https://a.example) and [b](https://b.example",
    "reference links": 'See [the plan][plan], [Docs] and [none][missing].\n\n[plan]: https://a.example/plan "Plan"\n[docs]: https://a.example/d',
    "only a definition": "[a]: https://acme.example",
    "parentheses in a link": "[a](https://e.com/a_(b)) ([c](https://e.com/c))",
    "international link": "[日本](https://例え.jp/日本 語) and [日](https://例え.jp/日)",
    "images": "![a chart](https://e.com/c.png) and ![](https://e.com/d.png) and ![*x* `y`](https://e.com/e.png) ![bad](javascript:1)",
    "image in a sentence": "See ![pic](https://x.example/p.png) here.",
    "image in a link": "[![build](https://x.example/b.svg)](https://x.example/build) **![strong](https://x.example/s.png)**",
    "images in a list": "- ![one](https://x.example/1.png)\n- text ![two](https://x.example/2.png) text",
    "mentions": "[~accountid:5b10a2844c20165700ede21g] @Ada @[Ada](x) <@U123> <!channel> <!here|here> @here <#C1>",
    "emphasis": "a*b*c snake_case_name __strong__ *em **strong em** em* ***both*** **a*b*c** 2 * 3 * 4 **not closed",
    "emphasis across lines": "**bold\nover two** and *one\n\nnot two*",
    "strikethrough": "~~gone~~ ~one~ ~~a **b** c~~ ~~not\n\nclosed~~",
    "marks and code": "**`a`** *`b`* ~~`c`~~ [`d`](https://e.com) **[`e`](https://e.com)** `` f`g ``",
    "emoji": ":tada: 🚀 👩‍🔧 **🚀** `👩‍🔧` 🇩🇪",
    "entities": "&amp; &lt;b&gt; &copy; & < > &nosuch; &#35;",
    "escapes": "\\*not em\\* \\# \\[x\\](y) 1\\. \\`code\\` \\<b\\> a\\|b",
    "hard breaks": "one  \ntwo\\\nthree\nfour",
    "paragraphs": "one\n\n\n\ntwo\r\nthree\r\n\r\nfour",
    "odd characters": "a\0b\x07c \u2028 d\u00a0e \ud800 \ue000f\ue001 \u202eg",
    "headings": "# 1\n## 2\n### 3\n#### 4\n##### 5\n###### 6\n####### 7\n\nUnder\n=====\n\nLine\n----\n\n#\n\n# **a** `b` [c](https://e.com)",
    "rules": "a\n\n---\n\n***\n\n_ _ _\n\nb",
    "bullet list": "- a\n- b\n* c\n+ d",
    "loose list": "- a\n\n- b\n\n  second paragraph of b\n\n- c",
    "list from 3": "3. three\n4. four\n\n   more\n9. ten?",
    "list from 0": "0) zero\n1) one",
    "number without a list": "2024. A year\n\n999999999999. no list",
    "nested lists": "- a\n  1. b\n     - c\n       1. d\n          - e\n            - f\n- g",
    "very deep lists": "\n".join("  " * depth + f"- level {depth}" for depth in range(25)),
    "list in a list at once": "- - - a\n    - b\n1. 2. c",
    "empty items": "- \n- a\n-\n  - b\n1.\n2. c",
    "code in a list": "1. Run:\n\n   ```sh\n   make test\n   ```\n2. Look\n\n       indented code\n3. ```\n   first\n   ```",
    "quote in a list": "- said:\n  > one\n  > **two**\n  >\n  > - three\n- > only a quote",
    "heading in a list": "- # loud\n- ## *less*\n  text\n- Under\n  ---\n  text",
    "rule in a list": "- a\n\n  ---\n\n  b\n- ***",
    "table in a list": "- see\n\n  | a | b |\n  |---|---|\n  | [x](https://e.com) | **2** |\n- end",
    "tasks": "- [ ] open\n- [x] done\n- [X] also **done**\n- [ ]\n- [] no box\n- [x](https://e.com) a link",
    "nested tasks": "- [ ] a\n  - [x] b\n    - [ ] c\n- [ ] d\n\n  more of d\n  - plain",
    "mixed tasks": "- [ ] task\n- no task\n- [x] `code` task\n- **[x] bold**",
    "numbered tasks": "1. [ ] one\n2. [x] two",
    "loose tasks": "- [ ] a\n\n  > quote\n\n- [x] # b",
    "quotes": "> a\n> b\nlazy\n\n> c\n>\n> d\n\n>",
    "quotes in quotes": "> a\n>> b\n>>> c\n>\n> d",
    "list in a quote": "> 1. a\n>    - b\n> 2. c\n>\n> done",
    "code in a quote": "> ```py\n> x = 1\n>\n> y = 2\n> ```\n>     indented",
    "heading and rule in a quote": "> # loud\n> text\n>\n> ---\n>\n> more",
    "table in a quote": "> | a | b |\n> |---|---|\n> | 1 | [x](https://e.com) |\n> | 3 | |",
    "code": '```python\ndef f():\n    return "a < b & c"\n\n```\n\n~~~ json title=x\n{}\n~~~\n\n    indented\n\n    twice\n\n```nosuch\n\n```\n\n```\n```',
    "code with fences inside": "````md\n```\ninner\n```\n````\n\n```\nnever closed",
    "code info": "```C++ x\na\n```\n```" + "l" * 60 + "\nb\n```\n```  SH  \nc\n```\n``` a&amp;b\nd\n```",
    "code spans": "` a ` `` b ` c `` `d\ne` `f` ` `",
    "table": "| h | i |\n|---|:-:|\n| **a** | `b` |\n| [c](https://e.com) | d<br>e |\n\nafter",
    "table with pipes": "| a | b |\n|---|---|\n| x \\| y | `p \\| q` |\n| `r | s` | t |",
    "table with empty cells": "| a | b | c |\n|---|---|---|\n| | 2 | |\n|||\n| 1 |\n| 1 | 2 | 3 | 4 |",
    "table without edges": "a | b\n--|--\n1 | 2\nword",
    "table with only a header": "| a | b |\n|---|---|",
    "table that is none": "| a | b |\n\n|---|---|\n| 1 | 2 |\n\n| a | b |\n|---|\n| 1 | 2 |",
    "wide table": "| a " * 22 + "|\n" + "|---" * 22 + "|\n" + "| 1 " * 22 + "|",
    "long table": "| n | what |\n|---|---|\n" + "\n".join(f"| {n} | **row** {n} |" for n in range(12)),
    "long code": "```python\n" + "\n".join(f"line_{n} = {n}" for n in range(40)) + "\n```",
    "long list": "\n".join(f"- item {n} with **some** words and a [link](https://e.com/{n})" for n in range(12)),
    "long text": " ".join(f"Sentence {n} has `code {n}` and **bold {n}**." for n in range(20)),
    "many looks": " ".join(f"**w{n}** x" for n in range(60)) + " [source](https://example.com/s)",
    "long quote": "\n".join(f"> line {n} of *some* quote" for n in range(25)),
    "many headings": "\n\n".join(f"## Heading {n}\n\nText {n}" for n in range(8)),
    "everything in a list": "1. one\n\n   > quote\n\n   | a |\n   |---|\n   | b |\n\n   # head\n\n   ---\n\n       code\n\n   - [ ] task\n\n   last",
    "right to left": "# مرحبا\n\n- שלום **עולם**\n- 漢字 *かな*",
    "tabs": "-\ta\n\n\t- b\n\n\tcode?\n\n\tplain\tcode",
    "broken marks": "**_`[x](~~> - # |a|b|\n|-|-|\n```",
}  # fmt: skip


def jira(markdown: str) -> object:
    """Return the document for Jira and its text, or the refusal."""
    try:
        made = document(markdown, NOWHERE)
    except ToolError as refused:
        return refused.message_to_model
    return {"document": lines(made["content"]), "text": adf_text(made).split("\n")}


def lines(blocks_made: object) -> list[str]:
    """Return each block as one line, so that a diff shows which block changed."""
    assert isinstance(blocks_made, list)
    return [json.dumps(block, ensure_ascii=False) for block in blocks_made]


def written() -> dict[str, Any]:
    """Return the output of each writer for each sample."""
    made = {
        name: {
            "markdown": markdown,
            "slack fallback": fallback(markdown),
            "slack messages": list(split(markdown, SMALL)),
            "jira": jira(markdown),
            "notion blocks": lines(blocks(markdown)),
            "notion comment": lines(rich_text(comment_spans(markdown))),
        }
        for name, markdown in SAMPLES.items()
    }
    return json.loads(json.dumps(made))


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(written(), indent=1) + "\n")
