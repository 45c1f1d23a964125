"""The command `gofer`: its subcommands, its help and its exit codes.

Exit codes: 0 success, 1 the command failed, 2 the input was wrong, 130 interrupted, 141 the reader of the output left.
"""

import argparse
import gc
import importlib
import io
import os
import signal
import sys
from collections.abc import Sequence
from typing import Protocol, cast

from gofer.app.private_files import forbid_core_dumps
from gofer.sources.manual import listed
from gofer.sources.manuals import WORKPLACE_MANUAL
from gofer.sources.receivers import RECEIVERS
from gofer.values.errors import ConfigError, GoferError
from gofer.values.parts import how_to_install, part_of

COMMANDS = {
    "init": "write the repository of a company, with workflows to begin with",
    "upgrade": "bring the repository of a company to another version, and keep its changes",
    "new": "write a workflow, a tool, a skill or an eval to begin with",
    "docs": "print the guides of this version",
    "demo": f"show Gofer with simulated {listed(spec.system for spec in RECEIVERS)}, without any account",
    "doctor": "say what works in this installation, what does not, and what to do",
    "serve": f"serve a real {WORKPLACE_MANUAL.app} on this machine",
    "manifest": f"print the manifest of the {WORKPLACE_MANUAL.app} that the workflows need",
    "template": "print the parts of template.yaml that a source needs on AWS",
    "check": "find every mistake in workflows, prompts, skills, scripts and tools",
    "publish": "make workflows live on AWS without a deploy, list earlier versions, roll back",
    "package": "make the packages of the functions on AWS, as `sam build` asks for them",
    "schema": "print the JSON Schema of a workflow file, for editors",
    "explain": "explain which workflows a payload would start, without running them",
    "extract": "print the text that a model would read of a document",
    "run": "run one workflow on one event in this process",
    "eval": "play the cases of evals/ and grade them, to see whether prompts and workflows are still good",
    "review": "let a model review changed prompts, skills and evals by the rules of AGENTS.md, as advice",
    "runs": "list the newest runs",
    "stats": "count runs, errors, tools, costs and times, by workflow, person, week, tool, skill or prompt",
    "trace": "show what one run did, step by step",
    "health": "show on one screen whether one run was well: checks, states, context, waste, unusual traits",
    "replay": "run a recorded run again through the engine, and say where it differs",
    "diff": "show where two runs part, how their prompts differ there, and what followed",
    "suggest": "propose an edit of a prompt or a skill from recorded runs, and prove it by replay",
    "promote": "find what the runs of a workflow have in common, draft a script of it, and verify one",
    "candidates": "find requests that could have a workflow of their own, and passages that could be a skill",
    "golden": "write a redacted test case from a recorded run",
    "export": "send the spans of runs to an OpenTelemetry collector again, or print them",
    "feedback": "say what you think of a run, and list the runs with feedback",
    "cancel": "stop a run before its next step",
    "retry": "requeue an abandoned run, or continue a parked run now",
    "sweep": "continue the unfinished runs of an earlier process, then stop",
    "keep": "keep the contents of a run instead of deleting them on schedule",
    "purge": "delete the contents of old runs",
    "backup": "back up the state of this machine into a folder, even while Gofer serves",
    "version": "print the versions of Gofer, Python and the system; also `gofer --version`",
    "restore": "restore a backup into an empty GOFER_DATA; unfinished runs wait for `gofer retry`",
}
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
        return 2
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
        print(f"gofer: {error.strerror or type(error).__name__} {error.filename or ''}".rstrip(), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _without_reader() -> int:
    """Discard what is left of the output, and return the exit code for a reader that left."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return READER_LEFT


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
        description="The internal agent a company runs from its own repository.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for name, purpose in COMMANDS.items():
        command = commands.add_parser(name, help=purpose, description=f"{purpose[0].upper()}{purpose[1:]}.")
        if name == chosen:
            command.formatter_class = argparse.RawDescriptionHelpFormatter
            _command(name).options(command)
    return parser


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
    sys.exit(main())
