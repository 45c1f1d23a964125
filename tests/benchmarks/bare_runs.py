"""The smallest loop over the SDK, in a fresh process: one run, then many at once, with a tool that answers at once.

It goes around the SDK's transform with `extra_body`, keeps everything in memory and sends one tool. It prints the same
JSON object as embedded_runs.py.
"""

import asyncio
import json
import sys
from collections.abc import Callable

from openai import AsyncOpenAI
from process_use import cpu_seconds, peak_mb

RESULT = "x" * 200
PARAMETERS = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
TOOLS = [{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": PARAMETERS}}]


def look(text: str) -> str:
    """Return the result of the tool."""
    return f"{text}: {RESULT}"


async def run(client: AsyncOpenAI, act: Callable[[str], str] = look) -> str:
    """Return the answer to one question: ask, act, append, until the model calls no tool."""
    messages: list[object] = [
        {"role": "system", "content": "You look, and then you are done."},
        {"role": "user", "content": "please"},
    ]
    while True:
        answer = await client.chat.completions.create(
            model="any", messages=[], extra_body={"messages": messages, "tools": TOOLS}
        )
        message = answer.choices[0].message
        if not message.tool_calls:
            return message.content or ""
        calls = [call for call in message.tool_calls if call.type == "function"]
        asked = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.function.name, "arguments": call.function.arguments},
            }
            for call in calls
        ]
        messages.append({"role": "assistant", "content": message.content, "tool_calls": asked})
        for call in calls:
            text = json.loads(call.function.arguments)["text"]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": act(text)})


async def main(url: str, runs: int) -> dict[str, float]:
    async with AsyncOpenAI(api_key="k", base_url=url) as client:
        assert await run(client) == "Done."
        found = {"first_cpu": cpu_seconds(), "first_mb": peak_mb()}
        if runs:
            before = cpu_seconds()
            assert set(await asyncio.gather(*(run(client) for _ in range(runs)))) == {"Done."}
            found |= {"run_ms": (cpu_seconds() - before) * 1_000 / runs, "peak_mb": peak_mb()}
    return found


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(sys.argv[1], int(sys.argv[2])))))
