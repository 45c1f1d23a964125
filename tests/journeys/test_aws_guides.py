"""The guides of an operator on AWS, typed block by block in a company's repository, with moto in place of AWS.

The commands are those of the guides: the AWS CLI, `sam build` of the real program, Gofer from its wheel. These are
played instead: `sam deploy` and `sam delete`, as moto does not know the Serverless transform; `uv`, which would ask a
registry; `sleep`; and Lambda, which is the real runtime client on the built packages. The AWS CLI is version 1, the
only one in a package registry. So the lines with `aws logs tail`, which only version 2 has, are not typed.
"""

import asyncio
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from support.app.company import ROOT
from support.app.installed import environment, wheel
from support.aws import moto_server
from support.aws.followed_stack import follow
from support.aws.function_packages import runtime
from support.aws.lambda_stage import Code, Stage, undeployed
from support.aws.moto_server import REGION
from support.guides.checkout import shell_blocks
from support.guides.typed_shell import TypedShell

pytestmark = pytest.mark.anyio

DEPLOY = (ROOT / "docs" / "deploy.md").read_text()
PROGRAMS = {"sam": "support.aws.deployed_stack", "uv": "support.aws.uv_here"}
"""The programs that are played, by the module that plays each."""
PYTHON = """#!/bin/sh
# The interpreter for Lambda, whose bytecode comes along with the libraries.
case "$*" in *compileall*) exit 0 ;; esac
exec {python} "$@"
"""


def program(folder: Path, name: str, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


class Operator:
    """An engineer in the repository of a company, with an administrator's profile."""

    def __init__(self, folder: Path) -> None:
        self.home, self.repository = folder, folder / "acme"
        played = folder / "programs"
        for name, module in PROGRAMS.items():
            paths = f"{ROOT / 'src'}:{ROOT / 'tests'}"
            program(played, name, f'#!/bin/sh\nPYTHONPATH={paths} exec {sys.executable} -m {module} "$@"\n')
        program(played, "sleep", "#!/bin/sh\n")
        program(played, "python3.13", PYTHON.format(python=sys.executable))
        installed = environment(folder / "installed", wheel(folder / "dist"))
        profile = f"[profile admin]\naws_access_key_id = admin\naws_secret_access_key = testing\nregion = {REGION}\n"
        (folder / "config").write_text(profile)
        variables = {
            "PATH": f"{installed}:{played}:{ROOT / '.venv' / 'awscli' / 'bin'}:{os.environ['PATH']}",
            "HOME": str(folder),
            "AWS_CONFIG_FILE": str(folder / "config"),
            "AWS_ENDPOINT_URL": moto_server.server(),
            "AWS_EC2_METADATA_DISABLED": "true",
            "SAM_CLI_TELEMETRY": "0",
            "UV_HERE_PYTHON": str(played / "python3.13"),
        }
        self.shell = TypedShell(folder, variables)
        self.shell.type(f"gofer init acme --aws\nln -s {folder}/installed acme/.venv\ncd acme")

    async def types(self, block: str, *answers: str) -> str:
        """Type a block, while Slack and the functions go on."""
        return await asyncio.to_thread(self.shell.type, block, *answers)

    def override(self, **parameters: str) -> None:
        """Add parameters to the file of the stage, as the guides say."""
        file = self.repository / "deploy" / "prod.toml"
        lines = "".join(f'  "{name}={value}",\n' for name, value in parameters.items())
        file.write_text(file.read_text().removesuffix("]\n") + f"{lines}]\n")

    def code(self) -> Code:
        """Return where the built packages will be."""
        return Code({}, runtime(self.home / "runtime"))


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    made = Operator(tmp_path)
    yield made
    made.shell.close()


def secrets(made: Stage) -> Mapping[str, str]:
    """Return what the pages of Slack show to the person who makes the app."""
    return {
        "SLACK_BOT_TOKEN": "xoxb-simulated",
        "SLACK_SIGNING_SECRET": "simulated-signing-secret",
        "SLACK_TEAM_ID": made.slack.workspace.team.id,
        "SLACK_WORKSPACE_URL": "https://acme.slack.com",
        "SLACK_CLIENT_ID": made.slack.openid.client_id,
        "SLACK_CLIENT_SECRET": made.slack.openid.client_secret,
    }


async def deploy_as_the_guide_says(operator: Operator, made: Stage) -> None:
    tools, _ = shell_blocks(DEPLOY, "1. Tools")
    assert "arn:aws:sts" in await operator.types(tools.replace("make install sam\n", ""))
    operator.override(Url="https://gofer.example.com", AlarmEmail="you@example.com")
    (key,) = shell_blocks(DEPLOY, "2. The installation's key")
    await operator.types(key)
    (by_hand,) = shell_blocks(DEPLOY, "3. Deploy by hand once")
    assert "is live within 30 seconds" in await operator.types(by_hand)
    (setting,) = shell_blocks(DEPLOY, "4. Write the settings")
    await operator.types(setting, "sk-simulated")
    manifest, settings = shell_blocks(DEPLOY, "5. The Slack app")
    assert "https://gofer.example.com/slack/events" in await operator.types(manifest)
    await operator.types(settings, *secrets(made).values())
    follow(made, "prod", operator.repository / ".aws-sam" / "build")


@pytest.mark.rehearsal(
    "tests/journeys/test_lambda.py::test_mention_on_lambda_is_answered_and_only_members_see_the_trace",
    "tests/architecture/test_template_functions.py::test_deployed_functions_name_the_deployed_tables_and_bucket",
)
async def test_mention_is_answered_by_the_stack_that_the_guide_deploys(operator: Operator) -> None:
    async with undeployed(operator.code(), "prod") as made:
        await deploy_as_the_guide_says(operator, made)
        asked = await made.ask("@Gofer hello")
        (head,) = await made.work()
        (answer,) = made.answers(asked)
        assert (head.status, "Hello" in answer.text) == ("done", True)
