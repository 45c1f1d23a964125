"""A program `gofer` for the shells of tests: each call is a process forked from the fork server, and starts fast.

The process has the folder, the environment and the streams of its caller. Other tests start the installed program.
"""

import contextlib
import gc
import json
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from gofer.cli.main import main
from support.processes.forks import start

CALLER = """#!{python} -IS
import json, os, socket, sys

with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    call = json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]).encode()
    socket.send_fds(server, [len(call).to_bytes(8, "big")], [0, 1, 2])
    server.sendall(call)
    code = server.recv(8)
sys.exit(int(code) if code else 70)
"""
"""The program: it passes its words on, waits, and ends with the exit code; 70 if the process has none."""


@contextmanager
def forked_program(folder: Path) -> Iterator[Path]:
    """Yield a new folder with the program `gofer`; its path is put first in PATH."""
    folder.mkdir()
    address = folder / "calls"
    program = folder / "gofer"
    program.write_text(CALLER.format(python=sys.executable, address=str(address)))
    program.chmod(0o755)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(address))
        server.listen()
        process = start(_serve, server)
    try:
        yield folder
    finally:
        process.terminate()
        process.join()


def _serve(server: socket.socket) -> None:
    # The inherited memory has no garbage, and a collection would copy all of it.
    gc.freeze()
    server.settimeout(5)
    parent = os.getppid()
    # The fork server ends with the tests, also when they are killed.
    while os.getppid() == parent:
        try:
            caller, _ = server.accept()
        except TimeoutError:
            continue
        if os.fork() == 0:
            server.close()
            os._exit(_answer(caller))
        caller.close()
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _answer(caller: socket.socket) -> int:
    """Run one call in this process, and tell the caller its exit code."""
    words = _prepare(caller)
    try:
        code = main(words)
    except SystemExit as left:
        code = int(left.code or 0)
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    caller.sendall(str(code).encode())
    return code


def _prepare(caller: socket.socket) -> list[str]:
    """Give this process the streams, the folder and the environment of a call; return its words."""
    size, streams, _, _ = socket.recv_fds(caller, 8, 3)
    length = int.from_bytes(size, "big")
    call = b""
    while len(call) < length:
        call += caller.recv(length - len(call))
    words, where, environment = json.loads(call)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    sys.stdout, sys.stderr = _writer(1), _writer(2)
    sys.argv = ["gofer", *words]
    os.chdir(where)
    os.environ.clear()
    os.environ.update(environment)
    return words


def _writer(number: int) -> TextIO:
    return open(number, "w", encoding="utf-8", closefd=False)
