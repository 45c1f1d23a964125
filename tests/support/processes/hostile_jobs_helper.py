"""A helper process with jobs that misbehave as libraries do with hostile documents."""

import ctypes
import json
import os
import resource
import signal
import socket
import time

from gofer.files.child_wire import Limits, Packet
from gofer.files.fork import Work, serve
from gofer.values.errors import ToolError


def echo(packet: Packet) -> Packet:
    return Packet({"size": len(packet.data)}, packet.data[:100])


def environment(packet: Packet) -> Packet:
    """Return what a job can see of the process that requested it."""
    descriptors = []
    for number in range(256):
        try:
            os.fstat(number)
            descriptors.append(number)
        except OSError:
            pass
    environment = ctypes.CDLL(None).getenv  # the real environment, not Python's copy
    environment.restype = ctypes.c_char_p
    names = [name for name in ("PATH", "HOME", "GOFER_SECRET") if environment(name.encode())]
    core = resource.getrlimit(resource.RLIMIT_CORE)[0]
    return Packet({"descriptors": descriptors, "environment": names + list(os.environ), "core": core})


def forever(packet: Packet) -> Packet:
    while True:
        pass


def burn(packet: Packet) -> Packet:
    """Use 0.7 seconds of processor time."""
    while time.process_time() < 0.7:
        pass
    return Packet({"done": True})


def asleep(packet: Packet) -> Packet:
    time.sleep(60)
    return Packet({})


def deaf(packet: Packet) -> Packet:
    """Sleep and ignore the alarm."""
    signal.signal(signal.SIGALRM, signal.SIG_IGN)
    return asleep(packet)


def hog(packet: Packet) -> Packet:
    held = []
    while True:
        held.append(bytearray(16 << 20))


def crash(packet: Packet) -> Packet:
    os.kill(os.getpid(), signal.SIGSEGV)
    return Packet({})


def leave(packet: Packet) -> Packet:
    os._exit(0)


def orphan(packet: Packet) -> Packet:
    """Kill the helper, then end."""
    os.kill(os.getppid(), signal.SIGKILL)
    time.sleep(0.2)
    os._exit(0)


def refuse(packet: Packet) -> Packet:
    raise ToolError("The page does not exist; name one up to 7.", code="no_page")


def stumble(packet: Packet) -> Packet:
    raise KeyError("secret words of the document")


def write(packet: Packet) -> Packet:
    with open("/tmp/gofer-was-here", "wb") as file:  # noqa: PTH123
        file.write(b"x")
    return Packet({})


def connect(packet: Packet) -> Packet:
    return Packet({"opened": socket.socket().fileno()})


def wait(packet: Packet) -> Packet:
    begun = time.monotonic()
    time.sleep(0.4)
    ended = time.monotonic()
    return Packet({"helper": os.getppid(), "said": json.dumps(packet.fields), "begun": begun, "ended": ended})


JOBS: dict[str, Work] = {
    job.__name__: job
    for job in (
        echo,
        environment,
        forever,
        burn,
        asleep,
        deaf,
        hog,
        crash,
        leave,
        orphan,
        refuse,
        stumble,
        write,
        connect,
        wait,
    )
}


def main(control: float, memory: float, seconds: float, wall: float) -> None:
    serve(JOBS, {"connect"}, int(control), Limits(int(memory), seconds, wall))
