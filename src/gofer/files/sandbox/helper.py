"""The helper process that runs code: it knows one job, and is the only one that imports the interpreter."""

from gofer.files.child_limits import Limits
from gofer.files.fork import serve
from gofer.files.sandbox import interpreter

JOB = "python"


def main(control: float, memory: float, seconds: float, wall: float) -> None:
    """Serves jobs over the socket that has the number `control`, until it is closed."""
    # The interpreter is a program of its own, so its job may start one; that has the limits of its child.
    serve({JOB: interpreter.run}, (), int(control), Limits(int(memory), seconds, wall), starting={JOB})
