"""What may a script not do by itself, and what does it do instead?"""

from collections.abc import Mapping

_CLOCK = ("reads the clock or waits", "Use `run.now()`; whoever waits starts a run later.")
_CHANCE = ("is left to chance", "Use `run.random()`, which gives the same whenever the script is run again.")
_FILES = ("reads or writes files", "Use a tool with `run.call`; names of paths are made with `PurePosixPath`.")
_NETWORK = ("speaks to other machines", "Use a tool with `run.call`.")
_PROCESS = ("starts something beside the script", "Use a tool with `run.call`; `run.gather` waits for several calls.")
_SYSTEM = ("asks the machine or its environment", "Use what the event says, or a tool with `run.call`.")
_TASKS = ("waits outside of the run", "Use `run.gather` to wait for several things at once.")
_CODE = ("runs text as code", "Write the code itself.")
_PEOPLE = ("speaks to a terminal", "Return what people are to read, or use a tool with `run.call`.")
_LEAVING = ("leaves the process", "Use `return`.")

Why = tuple[str, str]
"""What it does, as the rest of a sentence, and what to write instead."""

MODULES: Mapping[str, Why] = {
    **dict.fromkeys(("time", "sched"), _CLOCK),
    **dict.fromkeys(("random", "secrets"), _CHANCE),
    **dict.fromkeys(("shutil", "tempfile", "glob", "fileinput", "mmap", "sqlite3", "dbm", "shelve"), _FILES),
    **dict.fromkeys(
        ("socket", "ssl", "select", "selectors", "http", "urllib.request", "ftplib", "smtplib", "imaplib", "poplib"),
        _NETWORK,
    ),
    **dict.fromkeys(("socketserver", "xmlrpc", "webbrowser", "wsgiref", "telnetlib", "nntplib"), _NETWORK),
    **dict.fromkeys(
        ("requests", "httpx", "httpx2", "aiohttp", "urllib3", "websockets", "boto3", "botocore", "openai", "anthropic"),
        _NETWORK,
    ),
    **dict.fromkeys(("slack_sdk", "slack_bolt", "starlette", "uvicorn", "paramiko", "psycopg", "redis"), _NETWORK),
    **dict.fromkeys(("subprocess", "multiprocessing", "threading", "concurrent", "signal", "pty"), _PROCESS),
    **dict.fromkeys(("os", "posix", "platform", "getpass", "pwd", "ctypes", "gc", "resource"), _SYSTEM),
    **dict.fromkeys(("asyncio", "anyio", "trio"), _TASKS),
    **dict.fromkeys(("importlib", "runpy", "code", "pickle", "marshal"), _CODE),
}
"""Modules that a script does not import."""

NAMES: Mapping[str, Why] = {
    **dict.fromkeys(
        (
            "datetime.datetime.now",
            "datetime.datetime.utcnow",
            "datetime.datetime.today",
            "datetime.date.today",
        ),
        _CLOCK,
    ),
    **dict.fromkeys(("uuid.uuid1", "uuid.uuid4"), _CHANCE),
    **dict.fromkeys(("pathlib.Path", "pathlib.PosixPath", "pathlib.WindowsPath", "io.open", "codecs.open"), _FILES),
    **dict.fromkeys(("sys.argv", "sys.modules", "sys.path", "sys.stdin", "sys.stdout", "sys.stderr"), _SYSTEM),
    "sys.exit": _LEAVING,
}
"""Names of other modules that a script does not use."""

BUILTINS: Mapping[str, Why] = {
    "open": _FILES,
    **dict.fromkeys(("eval", "exec", "compile", "__import__"), _CODE),
    **dict.fromkeys(("input", "print", "breakpoint"), _PEOPLE),
    **dict.fromkeys(("exit", "quit"), _LEAVING),
}
"""Names of Python itself that a script does not use."""
