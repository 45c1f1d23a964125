# pyright: basic, reportMissingImports=false
"""CPU seconds of inspect_ai for 100 cases with 5 plays each: a mock model that calls one tool twice, then answers.

`test_evals.py` runs this script with the Python of `.bench`.
"""

import tempfile
import time
from collections.abc import Iterator

import inspect_ai
import tiktoken
from inspect_ai.dataset import Sample
from inspect_ai.model import ModelOutput, get_model
from inspect_ai.scorer import includes
from inspect_ai.solver import generate, use_tools
from inspect_ai.tool import Tool, tool

CASES = 100
PLAYS = 5


class Tokenizer:
    """Four characters are a token. inspect_ai downloads its tokenizer, and a test reaches nothing but loopback."""

    def encode(self, text: str, **_: object) -> list[int]:
        return [0] * (len(text) // 4)

    encode_ordinary = encode


@tool
def look() -> Tool:
    async def execute(text: str) -> str:
        """Look something up.

        Args:
            text: The subject.
        """
        return f"found {text}"

    return execute


def outputs() -> Iterator[ModelOutput]:
    while True:
        yield ModelOutput.for_tool_call("mockllm/model", "look", {"text": "a"})
        yield ModelOutput.for_tool_call("mockllm/model", "look", {"text": "b"})
        yield ModelOutput.from_content("mockllm/model", "found")


def main() -> None:
    """Print the CPU seconds of 500 runs with their log."""
    tiktoken.get_encoding = lambda _: Tokenizer()
    samples = [Sample(input=f"question {number}", target="found") for number in range(CASES)]
    task = inspect_ai.Task(dataset=samples, solver=[use_tools(look()), generate()], scorer=includes(), epochs=PLAYS)
    model = get_model("mockllm/model", custom_outputs=outputs())
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        logs = inspect_ai.eval(task, model=model, log_dir=folder, display="none", max_samples=1)
        seconds = time.process_time() - began
    assert logs[0].status == "success", logs[0].error
    print(seconds)


if __name__ == "__main__":
    main()
