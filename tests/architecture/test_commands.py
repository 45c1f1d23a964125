"""Commands in the documents: they exist with their options, and operators may run those of the runbook."""

import re
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

import botocore.session
import pytest
from botocore import xform_name
from samtranslator.yaml_helper import yaml_parse

from gofer.cli.main import COMMANDS, main
from support.aws.template import ROOT, listed, transformed, written

SKILLS = sorted((ROOT / ".agents" / "skills").glob("*/SKILL.md"))
"""The runbooks of coding agents."""
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *SKILLS]
ON_AWS = [*(ROOT / "docs" / name for name in ("deploy.md", "runbook.md", "publish.md")), *SKILLS]
RUNBOOK = ROOT / "docs" / "runbook.md"
GLOBAL = {"profile", "region", "output", "query", "cli-binary-format", "max-items", "paginate"}
"""Options that commands of the AWS CLI have without an operation of the service; lists take `--max-items`."""
OWN = {
    ("logs", "tail"): {"since", "format", "filter-pattern", "follow"},
    ("cloudformation", "deploy"): {"template-file", "stack-name", "capabilities", "parameter-overrides"},
    ("configure", "list-profiles"): set[str](),
}
"""Commands of the AWS CLI that are no operation of a service, with their options."""
SAM = {
    "validate": {"lint", "config-file"},
    "build": {"config-file"},
    "deploy": {"config-file"},
    "delete": {"stack-name", "region"},
}
BEFORE = {"{", "do", "!", "$", "then", "xargs", "-n", "10", "X"}
"""Words that may precede a command."""


def name_of(document: Path) -> str:
    """Return the name of a document, for a skill that of its folder."""
    if document in SKILLS:
        return document.parent.name
    return document.stem


def written_in(document: Path) -> Iterator[str]:
    """Yield each piece of code, with one command or more. A program of `.agents/bin` counts as the one that it runs."""
    text = re.sub(r"\.agents/bin/(\w+)(?: @\w+)?", r"\1", document.read_text())
    for kind, body in re.findall(r"^ *```(\w*).*?\n(.*?)^ *```", text, re.DOTALL | re.MULTILINE):
        if kind == "sh":
            yield body
        elif kind in ("", "text"):
            # The effect of a command follows it, after two spaces.
            yield from (re.split(r" {2,}|#", line.strip())[0] for line in body.splitlines() if line[:1] not in " ")
    prose = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    yield from re.findall(r"`([^`\n]+)`", prose)


def commands(document: Path, program: str) -> list[list[str]]:
    """Return the arguments of each call of a program in a document."""
    found: list[list[str]] = []
    for piece in written_in(document):
        if not re.search(rf"(?<![\w./-]){program}(?= |$)", piece):
            continue
        rest, inner = re.sub(r"\\\n", " ", piece), list[str]()
        while nested := re.search(r"\$\(([^()]*)\)", rest):
            inner.append(nested[1])
            rest = rest.replace(nested[0], "X")
        for text in (rest, *inner):
            found += [words[at + 1 :] for words in _parts(text) for at in _calls(words, program)]
    return found


def _parts(text: str) -> Iterator[list[str]]:
    for line in text.splitlines() if text.count('"') % 2 == 0 else [text]:
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        words: list[str] = []
        for word in (*lexer, ";"):
            if re.fullmatch(r"[;|&()<>]+", word):
                yield words
                words = []
            else:
                words.append(word)


def _calls(words: Sequence[str], program: str) -> list[int]:
    """Return the positions of calls of the program; as an argument of another command it does not count."""
    at = next((i for i, word in enumerate(words) if word not in BEFORE and "=" not in word), len(words))
    return [at] if at < len(words) and words[at] == program else []


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_gofer_command_in_a_document_exists_with_the_shown_options(
    document: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for words in filter(None, commands(document, "gofer")):
        assert words[0] in COMMANDS or words[0].startswith("-"), words
        with pytest.raises(SystemExit):
            main([word for word in words[:1] if word in COMMANDS] + ["--help"])
        known = set(re.findall(r"--[a-z-]+", capsys.readouterr().out)) | {"--version"}
        used = {option for word in words if word.startswith(("-", "[-")) for option in re.findall(r"--[a-z-]+", word)}
        assert used <= known, words


def test_commands_of_the_documents_are_found() -> None:
    assert ["publish", "--stage", "$STAGE"] in commands(ROOT / "docs" / "deploy.md", "gofer")
    assert ["trace", "RUN", "--stage", "$STAGE"] in commands(ROOT / "docs" / "runbook.md", "gofer")
    moved = ["sqs", "get-queue-attributes", "--attribute-names", "QueueArn", "--queue-url", "X"]
    assert moved in [words[:6] for words in commands(ROOT / "docs" / "runbook.md", "aws")]


@pytest.mark.parametrize("document", ON_AWS, ids=name_of)
def test_aws_command_in_a_document_exists_with_the_shown_options(document: Path) -> None:
    session = botocore.session.get_session()
    for words in commands(document, "aws"):
        service, *rest = words
        if (service, *rest[:1]) in OWN:
            known = OWN[service, rest[0]]
        else:
            model = session.get_service_model("s3" if service == "s3api" else service)
            if not rest:
                continue
            operations = {xform_name(name, "-"): name for name in model.operation_names}
            if rest[0] == "wait":
                waiters = session.get_waiter_model(service)
                operations = {
                    xform_name(name, "-"): waiters.get_waiter(name).operation for name in waiters.waiter_names
                }
                rest = rest[1:]
            assert rest[0] in operations, words
            shape = model.operation_model(operations[rest[0]]).input_shape
            known = {xform_name(name, "-") for name in (shape.members if shape else ())}
        options = {word.removeprefix("--").removeprefix("no-") for word in rest if word.startswith("--")}
        assert options <= known | GLOBAL, words


@pytest.mark.parametrize("document", ON_AWS, ids=name_of)
def test_stack_output_named_in_a_document_exists(document: Path) -> None:
    text = document.read_text()
    deploy = yaml_parse((ROOT / "deploy" / "github.yaml").read_text())
    outputs = {*written()["Outputs"], *deploy["Outputs"]}
    named = {*re.findall(r"\$\(output (\w+)\)", text), *re.findall(r"OutputKey=='(\w+)'", text)}
    named |= set(re.findall(r"[Oo]utputs? `(\w+)`", text)) | set(re.findall(r"`(\w+(?:Url|Arn))`", text))
    assert named - outputs - {"PublicUrl"} == set()


@pytest.mark.parametrize("document", DOCUMENTS, ids=name_of)
def test_make_target_in_a_document_exists(document: Path) -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for words in commands(document, "make"):
        assert {word for word in words if not re.match(r"[A-Z]+=|-", word)} <= targets, words


def test_sam_command_in_a_document_is_a_known_one() -> None:
    for document in ON_AWS:
        for words in commands(document, "sam"):
            options = {word.removeprefix("--") for word in words[1:] if word.startswith("--")}
            assert options <= SAM[words[0]], words


ADMINISTRATOR = {
    "lambda:GetAccountSettings",
    "s3:ListObjectVersions",
    "dynamodb:RestoreTableToPointInTime",
    "dynamodb:UpdateTable",
}
"""Actions beyond the care of runs, or that no policy can narrow to one stage."""


def operator() -> set[str]:
    """Return the actions of the operator's policy."""
    document = transformed()["Resources"]["OperatorPolicy"]["Properties"]["PolicyDocument"]
    return {action for statement in document["Statement"] for action in listed(statement["Action"])}


def actions() -> Iterator[str]:
    """Yield the action that each AWS CLI command of the runbook needs."""
    for service, *rest in commands(RUNBOOK, "aws"):
        match service, rest[:1]:
            case "logs", ["tail"]:
                yield "logs:FilterLogEvents"
            case "lambda", ["invoke"]:
                yield "lambda:InvokeFunction"
            case _, [operation]:
                name = "".join(word.capitalize() for word in operation.split("-"))
                yield f"{service.removesuffix('api')}:{name}"


def test_operator_policy_allows_the_commands_of_the_runbook() -> None:
    assert set(actions()) - operator() == ADMINISTRATOR


def test_runbook_marks_the_commands_that_need_an_administrator() -> None:
    paragraphs = re.split(r"\n\n(?=\*\*|##)", RUNBOOK.read_text())
    for words in ("get-account-settings", "list-object-versions", "restore-table-to-point-in-time", "update-table"):
        (paragraph,) = [one for one in paragraphs if words in one]
        assert "administrator" in paragraph
