"""CPU of a cold process until its first 2xx, and the modules that take it.

CPU of whole processes, user and system, the interpreter's own start included. boto3 is the yardstick: a function that
talks to AWS loads it anyway. It is measured where it can be imported, and is no dependency.
"""

import importlib.util
import json
import re
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median

from traffic import SECRET, mentions

ROUNDS = 15
SCRIPT = Path(__file__).with_name("first_2xx.py")
TOP = 10
RECEIVER = "gofer.app.functions.receiver"
BOTOCORE = "botocore.session, botocore.client, botocore.endpoint, botocore.httpsession, botocore.auth, botocore.parsers"
"""The modules of botocore that sign and send a request. A client also loads descriptions of its service."""

Start = Callable[[int], None]


def program(code: str) -> Start:
    return lambda turn: subprocess.run([sys.executable, "-c", code], check=True) and None


def first_2xx(folder: Path) -> Start:
    def start(turn: int) -> None:
        (request,) = mentions(turn, 1)
        given = {"secret": SECRET, "headers": request.headers, "body": request.body.decode()}
        command = [sys.executable, str(SCRIPT), str(folder / str(turn))]
        done = subprocess.run(command, input=json.dumps(given), capture_output=True, text=True, check=True)
        assert done.stdout == "200 Accepted.\n"

    return start


def cpu_ms(start: Start, turn: int) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start(turn)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def test_cpu_of_a_cold_process_until_the_first_2xx(tmp_path: Path) -> None:
    starts = {
        "python -c pass": program("pass"),
        "import asyncio, sqlite3, hmac, json": program("import asyncio, sqlite3, hmac, json"),
        "import gofer.app.ingress": program("import gofer.app.ingress"),
        "a new folder, front, first 2xx": first_2xx(tmp_path),
    }
    if importlib.util.find_spec("boto3"):
        starts["import boto3"] = program("import boto3")
        starts["a receiver function"] = program(f"import {RECEIVER}")
        starts["the same with modules of botocore"] = program(f"import {RECEIVER}, {BOTOCORE}")
    measured: dict[str, list[float]] = {name: [] for name in starts}
    for turn in range(ROUNDS):
        for name, start in starts.items():
            measured[name].append(cpu_ms(start, turn))
    print(f"\nCPU of a fresh process, median of {ROUNDS} (ms)")
    for name, times in measured.items():
        print(f"  {name:36} {median(times):6.1f}  best {min(times):6.1f}")


def test_slowest_imports_until_the_first_2xx() -> None:
    command = [sys.executable, "-X", "importtime", "-c", "import gofer.app.ingress, gofer.app.embedded.state"]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True).stderr for _ in range(ROUNDS)]
    times: dict[str, list[int]] = {}
    for told in runs:
        for own, name in re.findall(r"import time: +(\d+) \| +\d+ \| +(\S+)", told):
            times.setdefault(name, []).append(int(own))
    medians = {name: median(found) / 1000 for name, found in times.items()}
    dearest = sorted(medians, key=lambda name: -medians[name])[:TOP]
    print(f"\n{len(medians)} modules to the first 2xx; the {TOP} dearest by their own time, and all of Gofer's (ms)")
    for name in dearest:
        print(f"  {name:44} {medians[name]:6.2f}")
    own = sum(took for name, took in medians.items() if name.startswith("gofer"))
    print(f"  {'gofer.*':44} {own:6.2f}  of {sum(medians.values()):.2f}")
    assert "gofer.runtime.receive" in medians
