"""What a process used since its start: CPU with that of its children, and its peak of memory."""

import re
import resource
import sys
from pathlib import Path


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and its ended children, user and system."""
    uses = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(use.ru_utime + use.ru_stime for use in uses)


def peak_mb() -> float:
    """Return the peak memory of this process in MB."""
    status = Path("/proc/self/status")
    if status.exists():
        # Preferred where it exists: getrusage also counts the memory of the parent when it started this process.
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) * 1024 / 1e6
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6
