"""The programs of `.agents/bin`: reads run with their arguments, all others are refused before a program starts."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.processes.agents_copy import Repository, copy_agents

ROOT = Path(__file__).parents[2]
PROGRAMS = ("gofer", "aws", "curl", "datadog")
REFUSED = 2
FOR_REVIEW = 3
KEYS = {"DD_API_KEY": "api0key", "DD_APP_KEY": "app0key"}


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """Return a repository in a folder whose name has a space."""
    return copy_agents(tmp_path / "our repository")


READS = [
    ["gofer", "runs"],
    ["gofer", "runs", "--around", "yesterday 14:00", "--channel", "#payments", "--conversations"],
    ["gofer", "runs", "--text=refund 4711; rm -rf *", "--json"],
    ["gofer", "runs", "--person", "@ada", "--text", "$(touch x) `id` \"quoted\" 'single' \\ über"],
    ["gofer", "runs", "--stuck", "--limit", "5"],
    ["gofer", "stats", "--since", "7d", "--by", "person"],
    ["gofer", "candidates", "--days", "7", "--json"],
    ["gofer", "candidates", "--prompts"],
    ["gofer", "trace", "3f2a91", "--full", "--json"],
    ["gofer", "trace", "--help"],
    ["gofer", "health", "4e01.17"],
    ["gofer", "diff", "4e01", "77aa", "--json"],
    ["gofer", "replay", "3f2a91", "--prompt", "agents/answer here.md", "--until", "1.0"],
    ["gofer", "replay", "3f2a91", "--override", "1.0=empty.txt", "--permute", "20", "--step"],
    ["gofer", "export", "3f2a91", "--json"],
    ["gofer", "export", "--since", "24h", "--json"],
    ["gofer", "eval"],
    ["gofer", "eval", "file-ticket", "rfc/one", "--repeat", "3", "--changed", "main"],
    ["gofer", "eval", "file-ticket", "--json", ".agents/tmp/before.json", "--markdown=.agents/tmp/report.md"],
    ["gofer", "eval", "--affected", "--changed=main"],
    ["gofer", "check", "agents/answer-here.yaml", "--json"],
    ["gofer", "explain", "--source", "slack", "--header", "X: y", "tests/events/slack_edit.json"],
    ["gofer", "schema", "--eval"],
    ["gofer", "docs", "docs/evals.md"],
    ["gofer", "promote", "new-hire-checklist", "--verify", "coordinators/new_hire.py"],
    ["gofer", "promote", "new-hire-checklist", "--runs", "50", "--out", ".agents/tmp/draft"],
]


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_read_of_gofer_runs_with_its_arguments_unchanged(repository: Repository, words: list[str]) -> None:
    assert repository.execute(words).returncode == 0
    assert repository.called() == words


AWS_READS = [
    ["sts", "get-caller-identity"],
    ["cloudformation", "describe-stacks", "--stack-name", "gofer-staging", "--query", "Stacks[0].Outputs"],
    ["cloudwatch", "describe-alarms", "--state-value", "ALARM", "--alarm-name-prefix=gofer-staging"],
    ["logs", "describe-log-groups", "--log-group-name-prefix", "/gofer/staging"],
    ["logs", "start-query", "--log-group-name", "/gofer/staging/worker", "--start-time=1795458000", "--limit", "5"],
    ["logs", "start-query", "--query-string", 'fields at | filter run = "3f2a" and message like /a "run"/ | limit 5'],
    ["logs", "get-query-results", "--query-id", "12ab-34"],
    ["logs", "filter-log-events", "--log-group-name", "/gofer/staging/api", "--filter-pattern", '{ $.status = "5*" }'],
]


@pytest.mark.parametrize("words", AWS_READS, ids=" ".join)
def test_read_of_aws_runs_unchanged_in_the_environment_of_its_alias(repository: Repository, words: list[str]) -> None:
    assert repository.execute(["aws", "@staging", *words]).returncode == 0
    assert repository.called() == ["aws", *words]
    environment = repository.environment()
    assert (environment["AWS_PROFILE"], environment["AWS_REGION"]) == ("gofer-staging", "eu-central-1")


CURL_READS = [
    ["http://127.0.0.1:8765/healthz"],
    ["-sSf", "http://localhost:8765/runs?limit=5"],
    ["--silent", "--max-time", "5", "http://127.0.0.1:8765/runs/3f2a91/trace?full=1&after=20"],
    ["-s", "-o", ".agents/tmp/run.json", "http://127.0.0.1:8765/runs/3f2a91"],
    ["-I", "http://127.0.0.1:8765/healthz"],
]


@pytest.mark.parametrize("words", CURL_READS, ids=" ".join)
def test_read_of_curl_runs_unchanged_and_without_a_settings_file(repository: Repository, words: list[str]) -> None:
    assert repository.execute(["curl", *words]).returncode == 0
    assert repository.called() == ["curl", "-q", "--header", "Accept: application/json", *words]


OTHERS = [
    # Commands that change something, ask a model, or do not exist.
    "gofer",
    "gofer golden 3f2a91",
    "gofer golden --play",
    "gofer retry 3f2a91",
    "gofer cancel 3f2a91",
    "gofer keep 3f2a91",
    "gofer purge",
    "gofer sweep",
    "gofer publish --list",
    "gofer run answer-here",
    "gofer serve",
    "gofer backup folder",
    "gofer review --changed main",
    "gofer RUNS",
    "gofer run",
    "gofer runs; gofer retry",
    # Options that write, ask a model, or lead elsewhere, also shortened, joined, and before the command.
    "gofer eval --record",
    "gofer eval --rec",
    "gofer eval --live",
    "gofer eval --live-tools --live",
    "gofer eval --calibrate",
    "gofer eval --resume",
    "gofer eval --affected --json",
    "gofer eval --json report.json",
    "gofer eval --json file-ticket",
    "gofer eval --json=.agents/tmp/../read_only.sh",
    "gofer eval --junit .agents/tmp/a/b.xml",
    "gofer eval --html .agents/tmp/",
    "gofer eval --markdown .agents/tmp/.gitignore",
    "gofer eval -- --record",
    "gofer replay 3f2a91 --model live",
    "gofer replay 3f2a91 --model=live",
    "gofer replay 3f2a91 --mod live",
    "gofer replay 3f2a91 --times 5",
    "gofer export 3f2a91",
    "gofer export --since --json",
    "gofer export 3f2a91 --jso",
    "gofer candidates --stage prod",
    "gofer suggest file-ticket --no-branch",
    "gofer promote new-hire --write",
    "gofer promote new-hire --out folder",
    "gofer promote new-hire --verify x.py --force",
    "gofer runs --stage prod",
    "gofer runs --profile prod",
    "gofer runs --stage=prod",
    "gofer --stage prod runs",
    "gofer --json runs",
    "gofer -h",
    "gofer trace 3f2a91 4e01",
    "gofer trace 3f2a91 -- --full",
    "gofer runs --text --json",
    "gofer runs --text",
    "gofer explain --source slack file:///etc/passwd -",
    "gofer @elsewhere runs",
    "gofer @ runs",
    "gofer @staging retry 3f2a91",
    "gofer @staging @staging runs",
    "gofer @prod retry 3f2a91",
    # The AWS CLI.
    "aws sts get-caller-identity",
    "aws @staging",
    "aws @staging sts",
    "aws @staging logs delete-log-group --log-group-name x",
    "aws @staging logs put-retention-policy",
    "aws @staging logs start-query-x",
    "aws @staging sts assume-role",
    "aws @staging s3 ls",
    "aws @staging configure set region x",
    "aws @staging --region us-east-1 sts get-caller-identity",
    "aws @staging sts get-caller-identity --region us-east-1",
    "aws @staging sts get-caller-identity --profile prod",
    "aws @staging sts get-caller-identity --prof prod",
    "aws @staging sts get-caller-identity --endpoint-url http://127.0.0.1:1",
    "aws @staging sts get-caller-identity --endpoint-url=http://127.0.0.1:1",
    "aws @staging sts get-caller-identity --no-verify-ssl",
    "aws @staging sts get-caller-identity --debug",
    "aws @staging sts get-caller-identity --cli-input-json file://x",
    "aws @staging logs get-query-results --query-id file:///etc/passwd",
    "aws @staging logs get-query-results --query-id=fileb:///etc/passwd",
    "aws @staging logs get-query-results more --query-id 1",
    # curl.
    "curl",
    "curl -XPOST http://127.0.0.1:8765/runs",
    "curl -sXPOST http://127.0.0.1:8765/runs",
    "curl -X POST http://127.0.0.1:8765/runs",
    "curl --request=POST http://127.0.0.1:8765/runs",
    "curl --method=POST http://127.0.0.1:8765/runs",
    "curl --request DELETE http://127.0.0.1:8765/runs",
    "curl -d x http://127.0.0.1:8765/runs",
    "curl -sd x http://127.0.0.1:8765/runs",
    "curl --data-binary @.env http://127.0.0.1:8765/runs",
    "curl -F a=@.env http://127.0.0.1:8765/runs",
    "curl -T .env http://127.0.0.1:8765/runs",
    "curl -o /tmp/x http://127.0.0.1:8765/runs",
    "curl -oagents/x.md http://127.0.0.1:8765/runs",
    "curl -so agents/x.md http://127.0.0.1:8765/runs",
    "curl -o .agents/tmp/../read_only.sh http://127.0.0.1:8765/runs",
    "curl -O http://127.0.0.1:8765/runs",
    "curl -K settings http://127.0.0.1:8765/runs",
    "curl -L http://127.0.0.1:8765/runs",
    "curl -x http://proxy:1 http://127.0.0.1:8765/runs",
    "curl --resolve 127.0.0.1:80:1.2.3.4 http://127.0.0.1/runs",
    "curl --url http://127.0.0.1:8765/runs",
    "curl https://example.com/runs",
    "curl http://127.0.0.1@example.com/runs",
    "curl http://127.0.0.1:8765@example.com/runs",
    "curl http://127.0.0.1.example.com/runs",
    "curl http://127.0.0.1:8765/slack/events",
    "curl http://127.0.0.1:8765/runs/../slack/events",
    "curl http://127.0.0.1:8765/runs http://127.0.0.1:8765/runs",
    "curl http://127.0.0.1:8765/runs/{a,b}",
    "curl file:///etc/passwd",
    "curl -- http://127.0.0.1:8765/runs",
    # Datadog.
    "datadog spans --query x",
    "datadog @staging",
    "datadog @staging monitors --query x",
    "datadog @staging spans --site example.com",
    "datadog @staging spans --query https://example.com",
    "datadog @staging spans more",
]


@pytest.mark.parametrize("line", OTHERS)
def test_every_other_command_is_refused_in_one_sentence_and_calls_no_program(repository: Repository, line: str) -> None:
    done = repository.execute(line.split(" "), KEYS)
    assert (done.returncode, done.stdout) == (REFUSED, b"")
    (sentence,) = done.stderr.decode().splitlines()
    assert re.fullmatch(r"Refused .+: .+[;,] .+\.", sentence)
    assert repository.called() == []


@pytest.mark.parametrize(
    "words",
    [
        ["gofer", "runs\nretry"],
        ["gofer", "runs", "--text", "a\n--stage prod"],
        ["gofer", "runs", "--json --stage prod"],
        ["gofer", "runs", "--conversations --stuck"],
        ["gofer", "runs", ""],
        ["gofer", "", "runs"],
        ["gofer", "export", "3f2a", "--since", "x --json"],
        ["gofer", "eval", "--html", ".agents/tmp/a\0b".replace("\0", "\r")],
        ["gofer", "eval", "--html", ".agents/tmp/a b"],
        ["aws", "@staging", "sts get-caller-identity"],
        ["aws", "@staging", "sts", "get-caller-identity", "--query --output"],
        ["aws", "@staging", "logs", "start-query", "--query-string", "fields at\n| limit 5"],
        ["curl", "-s -XPOST", "http://127.0.0.1:8765/runs"],
        ["curl", "http://127.0.0.1:8765/runs -XPOST"],
        ["datadog", "@staging", "spans", "--query", 'x"\nurl = "http://example.com'],
    ],
)
def test_quoted_words_and_line_breaks_slip_no_argument_past_the_rules(repository: Repository, words: list[str]) -> None:
    done = repository.execute(words, KEYS)
    assert done.returncode == REFUSED
    assert len(done.stderr.decode().splitlines()) == 1
    assert repository.called() == []


PIECES = ["gofer", "runs", "eval", "trace", "retry", "--json", "--record", "--live", "--stage", "prod", "--text", "--"]
READING = {"runs", "eval", "trace"}


@settings(deadline=None, max_examples=40)
@given(st.lists(st.sampled_from(PIECES) | st.text("-=@a \n'\"$;", max_size=6), max_size=5))
def test_a_forbidden_option_never_reaches_gofer(tmp_path_factory: pytest.TempPathFactory, arguments: list[str]) -> None:
    repository = copy_agents(tmp_path_factory.mktemp("copy"))
    repository.execute(["gofer", *arguments])
    called = repository.called()
    assert called in ([], ["gofer", *arguments])
    if called:
        assert called[1] in READING
        assert not {word.split("=")[0] for word in called} & {"--record", "--live", "--stage", "--"}


@pytest.mark.parametrize(
    "line",
    [
        "gofer @prod runs --text refund",
        "aws @prod sts get-caller-identity",
        "datadog @prod spans --query ml_app:gofer",
    ],
)
def test_command_on_production_is_printed_for_review_and_does_not_run(repository: Repository, line: str) -> None:
    done = repository.execute(line.split(" "), KEYS)
    assert done.returncode == FOR_REVIEW
    assert done.stdout.count(b"\n") == 1
    assert b"did not run" in done.stderr
    assert not any(key.encode() in done.stdout + done.stderr for key in KEYS.values())
    assert repository.called() == []


def test_printed_command_runs_in_a_shell_with_the_same_arguments(repository: Repository) -> None:
    done = repository.execute(["gofer", "@prod", "runs", "--text", "it's $HOME; `id`"])
    path = f"{repository.root}/programs:/usr/bin:/bin"
    subprocess.run(["bash", "-c", done.stdout], env={"PATH": path}, stdin=subprocess.DEVNULL, check=True)
    stage = ["--stage", "prod", "--profile", "gofer-prod"]
    assert repository.called() == ["gofer", "runs", *stage, "--text", "it's $HOME; `id`"]


@pytest.mark.parametrize("production", ["yes", "No", "", "maybe"])
def test_environment_runs_only_if_marked_as_no_production(repository: Repository, production: str) -> None:
    (repository.root / ".agents" / "environments").write_text(
        f"live {production} live eu-central-1 gofer-live datadoghq.eu\n"
    )
    assert repository.execute(["gofer", "@live", "runs"]).returncode in (REFUSED, FOR_REVIEW)
    assert repository.called() == []


@pytest.mark.parametrize(
    "row",
    [
        "odd no --stage eu-central-1 gofer datadoghq.eu",
        "odd no odd eu-central-1 gofer datadoghq.eu.example.com",
        "odd no odd eu-central-1 gofer",
        "odd no odd eu-central-1 gofer datadoghq.eu more",
    ],
)
def test_environment_with_a_malformed_row_is_refused(repository: Repository, row: str) -> None:
    (repository.root / ".agents" / "environments").write_text(row)
    assert repository.execute(["gofer", "@odd", "runs"]).returncode == REFUSED
    assert repository.called() == []


def test_alias_adds_the_stage_and_leaves_the_other_arguments(repository: Repository) -> None:
    assert repository.execute(["gofer", "@staging", "trace", "3f2a91", "--full"]).returncode == 0
    stage = ["--stage", "staging", "--profile", "gofer-staging"]
    assert repository.called() == ["gofer", "trace", *stage, "3f2a91", "--full"]
    assert repository.environment()["AWS_REGION"] == "eu-central-1"


def test_variables_of_the_caller_change_no_endpoint_account_or_rule(repository: Repository) -> None:
    harmful = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:1",
        "AWS_ENDPOINT_URL_LOGS": "http://127.0.0.1:1",
        "AWS_PROFILE": "prod",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_CONFIG_FILE": "/x",
        "AWS_ACCESS_KEY_ID": "x",
        "GOFER_TABLE": "gofer-prod",
        "OPENAI_API_KEY": "x",
        "HTTPS_PROXY": "http://127.0.0.1:1",
        "PYTHONSTARTUP": "/x",
        "production": "no",
        "words": "9",
        "bundle": "X",
        "settings": "x",
        "printed_only": "x",
        "CDPATH": "/",
        "SHELLOPTS": "noexec",
        "BASH_ENV": str(repository.root / "evil.sh"),
        "BASH_FUNC_refuse%%": "() { :; }",
        "BASH_FUNC_exec%%": "() { :; }",
        "IFS": "-",
    }
    (repository.root / "evil.sh").write_text("exit 0\n")
    assert repository.execute(["gofer", "@prod", "runs"], harmful).returncode == FOR_REVIEW
    assert repository.execute(["gofer", "retry", "3f2a"], harmful).returncode == REFUSED
    assert repository.execute(["gofer", "runs", "a", "b"], harmful).returncode == REFUSED
    assert repository.called() == []
    assert repository.execute(["aws", "@staging", "sts", "get-caller-identity"], harmful).returncode == 0
    environment = repository.environment()
    assert not {"AWS_CONFIG_FILE", "AWS_ACCESS_KEY_ID", "OPENAI_API_KEY", "HTTPS_PROXY"} & set(environment)
    assert not any(name.startswith(("AWS_ENDPOINT_URL_", "BASH_FUNC", "PYTHON")) for name in environment)
    assert (environment["AWS_ENDPOINT_URL"], environment["GOFER_TABLE"]) == ("", "")
    assert (environment["AWS_REGION"], environment["AWS_DEFAULT_REGION"]) == ("eu-central-1", "eu-central-1")
    assert (environment["AWS_PROFILE"], environment["AWS_IGNORE_CONFIGURED_ENDPOINT_URLS"]) == ("gofer-staging", "true")


def test_keys_of_datadog_go_through_standard_input(repository: Repository) -> None:
    words = ["datadog", "@staging", "spans", "--query", "trace_id:ab12", "--from=now-1d", "--limit", "5"]
    assert repository.execute(words, KEYS).returncode == 0
    assert repository.called() == [
        *["curl", "-q", "--silent", "--show-error", "--fail", "--get"],
        *["--data-urlencode", "filter[query]=trace_id:ab12", "--data-urlencode", "filter[from]=now-1d"],
        *["--data-urlencode", "page[limit]=5", "https://api.datadoghq.eu/api/v2/llm-obs/v1/spans/events"],
        *["--config", "-"],
    ]
    sent = (repository.root / "record" / "input").read_text()
    assert sent == 'header = "DD-API-KEY: api0key"\nheader = "DD-APPLICATION-KEY: app0key"\n'
    assert not set(KEYS) & set(repository.environment())


@pytest.mark.parametrize("keys", [{}, {**KEYS, "DD_APP_KEY": 'x"\nurl = "http://example.com'}])
def test_missing_or_malformed_keys_of_datadog_are_refused(repository: Repository, keys: dict[str, str]) -> None:
    assert repository.execute(["datadog", "@staging", "spans"], keys).returncode == REFUSED
    assert repository.called() == []


def test_output_through_a_symbolic_link_is_refused(repository: Repository) -> None:
    (repository.root / ".agents" / "tmp" / "report.json").symlink_to(repository.root / "elsewhere")
    words = ["gofer", "eval", "--json", ".agents/tmp/report.json"]
    assert repository.execute(words).returncode == REFUSED
    assert repository.called() == []


@pytest.mark.parametrize("text", ["[toplevel]\nlogs = !rm\n", "sts=!rm", "[command logs]\nstart-query = !rm\n"])
def test_alias_of_the_aws_cli_for_an_allowed_operation_is_refused(repository: Repository, text: str) -> None:
    folder = repository.root / "home" / ".aws" / "cli"
    folder.mkdir(parents=True)
    (folder / "alias").write_text(text)
    assert repository.execute(["aws", "@staging", "sts", "get-caller-identity"]).returncode == REFUSED
    assert repository.called() == []
    (folder / "alias").write_text("[toplevel]\nwhoami = sts get-caller-identity\n")
    assert repository.execute(["aws", "@staging", "sts", "get-caller-identity"]).returncode == 0


def test_gofer_of_the_repository_is_preferred_and_runs_at_its_root(repository: Repository) -> None:
    own = repository.root / ".venv" / "bin" / "gofer"
    own.parent.mkdir(parents=True)
    own.write_text("#!/bin/bash\npwd\n")
    own.chmod(0o755)
    assert repository.execute(["gofer", "runs"]).stdout.decode().strip() == str(repository.root)


def test_missing_program_is_named(repository: Repository) -> None:
    (repository.root / "programs" / "gofer").unlink()
    done = repository.execute(["gofer", "runs"])
    assert done.returncode == REFUSED
    assert done.stderr.startswith(b"Refused gofer: the program is not installed")


def test_scripts_are_strict_and_evaluate_no_text() -> None:
    files = [ROOT / ".agents" / "read_only.sh", *(ROOT / ".agents" / "bin" / name for name in PROGRAMS)]
    assert {path.name for path in (ROOT / ".agents" / "bin").iterdir()} == set(PROGRAMS)
    for path in files:
        text = path.read_text()
        assert "set -euo pipefail" in text
        assert not re.search(r"\beval [\"$]", text)
        assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
    for path in files[1:]:
        assert os.access(path, os.X_OK)
        # Privileged mode ignores BASH_ENV and functions of the caller.
        assert path.read_text().startswith("#!/bin/bash -p\n")
