"""The command `gofer`: its subcommands, its help and its exit codes.

Exit codes: 0 success, 1 the command failed, 2 the input was wrong, 130 interrupted, 141 the reader of the output left.
"""

import argparse
import contextlib
import gc
import importlib
import io
import os
import shutil
import signal
import sys
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Protocol, cast

from gofer.app.embedded.state_files import FULL, refused
from gofer.app.private_files import forbid_core_dumps
from gofer.sources.manual import listed
from gofer.sources.manuals import WORKPLACE_MANUAL
from gofer.sources.receivers import RECEIVERS
from gofer.values.errors import ConfigError, GoferError
from gofer.values.parts import how_to_install, part_of

HEADINGS: Mapping[str, Mapping[str, str]] = {
    "begin": {
        "init": "write the repository of a company, with workflows to begin with",
        "new": "write a workflow, a tool, a skill or an eval to begin with",
        "check": "find every mistake in workflows, prompts, skills, scripts and tools",
        "run": "run one workflow on one event in this process",
        "demo": f"show Gofer with simulated {listed(spec.system for spec in RECEIVERS)}, without any account",
        "serve": f"serve a real {WORKPLACE_MANUAL.app} on this machine",
        "doctor": "say what works in this installation, what does not, and what to do",
        "eval": "play the cases of evals/ and grade them, to see whether prompts and workflows are still good",
        "docs": "print the guides of this version",
        "upgrade": "bring the repository of a company to another version, and keep its changes",
    },
    "write workflows": {
        "explain": "explain which workflows a payload would start, without running them",
        "schema": "print the JSON Schema of a workflow file, for editors",
        "extract": "print the text that a model would read of a document",
        "review": "let a model review changed prompts, skills and evals by the rules of AGENTS.md, as advice",
        "golden": "write a redacted test case from a recorded run",
        "suggest": "propose an edit of a prompt or a skill from recorded runs, and prove it by replay",
        "promote": "find what the runs of a workflow have in common, draft a script of it, and verify one",
        "candidates": "find requests that could have a workflow of their own, and passages that could be a skill",
    },
    "look at runs": {
        "runs": "list the newest runs",
        "trace": "show what one run did, step by step",
        "health": "show on one screen whether one run was well: checks, states, context, waste, unusual traits",
        "stats": "count runs, errors, tools, costs and times, by workflow, person, week, tool, skill or prompt",
        "diff": "show where two runs part, how their prompts differ there, and what followed",
        "replay": "run a recorded run again through the engine, and say where it differs",
        "feedback": "say what you think of a run, and list the runs with feedback",
    },
    "act on runs": {
        "cancel": "stop a run before its next step",
        "retry": "requeue an abandoned run, or continue a parked run now",
        "sweep": "continue the unfinished runs of an earlier process, then stop",
        "keep": "keep the contents of a run instead of deleting them on schedule",
        "purge": "delete the contents of old runs",
        "export": "send the spans of runs to an OpenTelemetry collector again, or print them",
    },
    "set up and operate": {
        "manifest": f"print the manifest of the {WORKPLACE_MANUAL.app} that the workflows need",
        "publish": "make workflows live on AWS without a deploy, list earlier versions, roll back",
        "backup": "back up the state of this machine into a folder, even while Gofer serves",
        "restore": "restore a backup into an empty GOFER_DATA; unfinished runs wait for `gofer retry`",
        "template": "print the parts of template.yaml that a source needs on AWS",
        "package": "make the packages of the functions on AWS, as `sam build` asks for them",
        "version": "print the versions of Gofer, Python and the system; also `gofer --version`",
    },
}
"""The subcommands with their purpose, below the headings of `--help`."""
COMMANDS: Mapping[str, str] = {name: purpose for listed in HEADINGS.values() for name, purpose in listed.items()}
"""The subcommands with their purpose. Each is a module of this folder, imported only when it runs."""

_EXAMPLES = f"""examples:
  gofer demo                 keep serving; open the printed page and mention Gofer there
  gofer demo --exit          show the scenes and stop
  gofer check                list every mistake of the workflows, by file and line
  gofer manifest --socket    the {WORKPLACE_MANUAL.app} for this machine; with --url URL, for a server
  gofer serve                serve the app; {WORKPLACE_MANUAL.guide} says what to write into .env first
  gofer run answer-here --event {WORKPLACE_MANUAL.payload}
  gofer trace RUN            RUN is an id that `gofer runs` lists; its first characters are enough
  gofer publish --stage prod make agents/, subagents/ and skills/ live on AWS within 30 seconds
  gofer runs --stage prod    list the runs of a stage on AWS; other commands for runs take --stage too

`gofer COMMAND --help` shows the options of a command, with examples. Exit codes: 0 success, 1 the command failed, 2 the
input was wrong. Gofer stores its state in GOFER_DATA (default .gofer/). Settings come from the environment; .env fills
in those that are not set there.
"""


READER_LEFT = 128 + signal.SIGPIPE
"""The exit code of a command whose output has no reader any more, such as that of `gofer runs | head`."""


class Command(Protocol):
    """A module of this folder that is a subcommand."""

    def options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of the command to the parser."""
        ...

    def execute(self, arguments: argparse.Namespace) -> int:
        """Run the command and return the exit code."""
        ...


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command `gofer` and return its exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character gets a question mark, not a stack trace.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if arguments is None:
        arguments = sys.argv[1:]
    words = ["version" if word == "--version" else word for word in arguments[:1]] + list(arguments[1:])
    name = None
    if words and words[0] in COMMANDS:
        name = words[0]
    try:
        code = _run(name, words)
        # A reader that left, such as `head`, is found out here and not while Python ends.
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        return _without_reader()
    except ConfigError as error:
        # An error with several mistakes has one mistake per line.
        for line in str(error).splitlines():
            # Indented lines are list items below the first line.
            if line.startswith(" "):
                print(line, file=sys.stderr)
            else:
                print(f"gofer: {line}", file=sys.stderr)
        return error.EXIT
    except ModuleNotFoundError as error:
        part = part_of(error)
        if not part:
            raise
        print(f"gofer: This needs {error.name}, which is not installed: {how_to_install(part)}.", file=sys.stderr)
        return 2
    except GoferError as error:
        print(f"gofer: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"gofer: {_refused(error)}", file=sys.stderr)
        _discard_output()
        return 1
    except KeyboardInterrupt:
        return 130


def _refused(error: OSError) -> str:
    """Return what the machine refused, and what to do."""
    if isinstance(error, shutil.Error):
        # The copy of a folder lists each file with its reason.
        file, _, reason = error.args[0][0]
        # Behind the colon it names the copy, which people do not know.
        return f"{file} cannot be copied ({reason.partition(':')[0]}); check the folder and the disk."
    # The copy of a file names both; what is not accessible is more often the first one.
    place = error.filename
    if error.errno in FULL and error.filename2:
        place = error.filename2
    return str(refused(place or "A file", error))


def _without_reader() -> int:
    """Discard what is left of the output, and return the exit code for a reader that left."""
    _discard_output()
    return READER_LEFT


def _discard_output() -> None:
    """Let nothing of the output remain, because Python would try to write it again while it ends."""
    # A program that calls this function may have an output without a file.
    with contextlib.suppress(io.UnsupportedOperation):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(name: str | None, words: Sequence[str]) -> int:
    parser = _parser(name)
    parsed = parser.parse_args(words)
    if name is None:
        parser.print_help(sys.stderr)
        return 2
    forbid_core_dumps()
    return _command(name).execute(parsed)


def _parser(chosen: str | None) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="gofer",
        usage="gofer [-h] [--version] COMMAND …",
        description=_overview(),
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    # argparse lists all commands in one row, so `_overview` lists them.
    commands = parser.add_subparsers(metavar="COMMAND", help=argparse.SUPPRESS, prog="gofer")
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if name == chosen:
            command.formatter_class = argparse.RawDescriptionHelpFormatter
            _command(name).options(command)
    return parser


def _overview() -> str:
    """Return the description of `gofer`, with its commands below their headings."""
    width = shutil.get_terminal_size().columns - 2
    blocks = ["The internal agent a company runs from its own repository."]
    for heading, commands in HEADINGS.items():
        lines = [f"{heading}:"]
        for name, purpose in commands.items():
            lines += wrap(purpose, width, initial_indent=f"  {name:<12}", subsequent_indent=" " * 14)
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _command(name: str) -> Command:
    module = f"gofer.cli.{name}"
    if module not in sys.modules:
        # Imported modules are never garbage. Searching them for garbage takes a fifth of the start of `gofer serve`.
        gc.disable()
        importlib.import_module(module)
        gc.freeze()
        gc.enable()
    return cast(Command, sys.modules[module])


if __name__ == "__main__":
    # `gofer upgrade` of an earlier version starts this one by the name of the module.
    sys.exit(main())
