"""A company's own repository: the tutorial from an empty folder on, with the wheel, its commands and their output."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gofer.app.new_repository.contents import STARTERS
from gofer.app.new_repository.writing import Asked, write_repository
from support.app.company import ROOT
from support.app.earlier_wheel import earlier_wheel
from support.app.installed import environment, install, wheel
from support.aws.function_packages import STAGE, borrow_bytecode

GUIDE = ROOT / "docs" / "start.md"
_RUN = re.compile(r"^run ([0-9a-f]{24}): done$", re.MULTILINE)
_FENCE = re.compile(r"^```(sh|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MADE_ALREADY = (
    "make wheel\n",
    "python3 -m venv .venv\n",
    ".venv/bin/pip install --quiet --require-hashes -r requirements.lock\n",
)
"""Commands of the guide that ask a package registry. The journey has built and installed the wheel beforehand."""


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the built wheel in `dist/`, and beside it the environment that it is installed in."""
    folder = tmp_path_factory.mktemp("start")
    built = wheel(folder / "gofer" / "dist")
    environment(folder / "installed", built)
    return folder / "gofer"


def typed(folder: Path, commands: str, programs: Path, code: int = 0) -> str:
    """Type commands in a folder; return what they print. `code` is the expected exit code."""
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "HOME": str(folder), "GIT_AUTHOR_NAME": "a"}
    environment |= {
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
    }
    done = subprocess.run(
        ["bash", "-ec", commands],
        check=False,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == code, f"{commands}\n{done.stdout}"
    return done.stdout


@pytest.mark.rehearsal(
    "tests/unit/app/new_repository/test_writing.py::test_copy_of_each_file_lies_in_the_repository",
    "tests/journeys/test_new_repository.py::test_upgrade_keeps_five_kinds_of_local_changes",
)
def test_first_hour_goes_as_the_guide_says(clone: Path) -> None:
    installed = clone.parent / "installed"
    here = clone
    shown = ""
    run = ""
    for kind, text in _FENCE.findall(GUIDE.read_text()):
        if kind == "text":
            assert shown.endswith(text)
            continue
        commands = text.replace("uvx --from dist/gofer-*.whl gofer", "gofer")
        for command in MADE_ALREADY:
            commands = commands.replace(command, "")
        if commands.startswith("cd ../acme-gofer\n"):
            commands = commands.removeprefix("cd ../acme-gofer\n")
            here = clone.parent / "acme-gofer"
            (here / ".venv").symlink_to(installed)
        shown = typed(here, commands.replace("RUN", run), installed / "bin")
        run = next(iter(_RUN.findall(shown)), run)
    lock = (here / "requirements.lock").read_text()
    assert re.search(
        r"^\./vendor/gofer-[\d.]+-py3-none-any\.whl \\\n    --hash=sha256:[0-9a-f]{64}$", lock, re.MULTILINE
    )
    assert "://" not in lock
    assert typed(here, "git status --porcelain", installed / "bin") == ""


@pytest.fixture(scope="module")
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an environment with an earlier version of Gofer, which shipped other texts."""
    built = earlier_wheel(tmp_path_factory.mktemp("earlier"))
    return environment(tmp_path_factory.mktemp("environment") / "venv", built)


def test_upgrade_keeps_five_kinds_of_local_changes(earlier: Path, clone: Path, tmp_path: Path) -> None:
    typed(tmp_path, "gofer init acme", earlier)
    folder = tmp_path / "acme"
    ours = {
        "agents/answer-here.md": lambda text: f"{text}\nAnswer in the language of the question.\n",
        "agents/defaults.yaml": lambda text: text.replace('# ai_logs: "#ai-logs"', 'ai_logs: "#acme-logs"'),
        "agents/file-ticket.yaml": lambda text: text.replace("usd: 0.10", "usd: 9.00"),
        "agents/our-own.md": lambda _: "A prompt of ours.\n",
    }
    for path, edit in ours.items():
        before = (folder / path).read_text() if (folder / path).exists() else ""
        (folder / path).write_text(edit(before))
    (folder / "skills/incident-runbooks/SKILL.md").unlink()
    install(earlier, next((clone / "dist").glob("*.whl")))
    shown = typed(folder, "gofer upgrade", earlier, code=1)
    (told,) = [text for kind, text in _FENCE.findall((ROOT / "docs" / "upgrade.md").read_text()) if kind == "text"]
    assert shown == told
    assert "Answer in the language of the question." in (folder / "agents/answer-here.md").read_text()
    assert (folder / "agents/answer-here.md.new").read_bytes() == (ROOT / "agents/answer-here.md").read_bytes()
    defaults = (folder / "agents/defaults.yaml").read_text()
    assert "minutes: 5" in defaults
    assert '\nai_logs: "#acme-logs"\n' in defaults
    marked = (folder / "agents/file-ticket.yaml").read_text()
    assert all(found in marked for found in ("<<<<<<< yours", "usd: 9.00", "usd: 0.30"))
    assert (folder / "agents/our-own.md").read_text() == "A prompt of ours.\n"
    assert not (folder / "skills/incident-runbooks/SKILL.md").exists()
    assert (folder / "vendor").is_dir()
    assert typed(folder, "gofer upgrade", earlier) == "The files are already those of Gofer 0.1.0.\n"


ALONE = """
import handlers.{handler}, gofer, sys
print(gofer.__file__.startswith({folder!r}), callable(handlers.{handler}.handler))
"""


@pytest.mark.rehearsal("tests/architecture/test_packages.py::test_package_holds_every_import_of_the_handler")
@pytest.mark.parametrize(("function", "handler"), [("SlackFunction", "slack"), ("WorkerFunction", "worker")])
def test_company_packages_functions_with_the_installed_gofer(
    clone: Path, tmp_path: Path, function: str, handler: str
) -> None:
    programs = clone.parent / "installed" / "bin"
    typed(tmp_path, "gofer init acme --aws --with answer-here,welcome-channel", programs)
    folder = tmp_path / "acme"
    (folder / "tools" / "oncall.py").write_text('"""On call."""\n')
    assert "part" not in typed(folder, "gofer check", programs)
    (folder / ".venv").symlink_to(programs.parent)
    # `sam build` calls make like this, with `--uv` instead of the libraries that are installed here.
    made = typed(folder, f"make build-{function} ARTIFACTS_DIR=out UV='uv --here --without-bytecode'", programs)
    assert "Error" not in made
    package = folder / "out"
    assert (package / "coordinators" / "welcome_channel.py").exists() == (handler == "worker")
    assert (package / "tools" / "oncall.py").exists() == (handler == "worker")
    assert not (package / "gofer" / "shipped").exists()
    borrow_bytecode(package)
    code = ALONE.format(handler=handler, folder=str(package))
    done = subprocess.run(
        [sys.executable, "-S", "-s", "-B", "-c", code],
        check=False,
        cwd=package,
        env={**STAGE, "PYTHONPATH": str(package), "LAMBDA_TASK_ROOT": str(package), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
    )
    assert (done.stdout, done.stderr) == ("True True\n", "")


def test_company_deploys_with_the_template_of_gofer(clone: Path, tmp_path: Path) -> None:
    typed(tmp_path, "gofer init acme --aws", clone.parent / "installed" / "bin")
    folder = tmp_path / "acme"
    for path in ("template.yaml", "deploy/changes.sh", "deploy/dev.toml", "deploy/prod.toml", "deploy/github.yaml"):
        assert (folder / path).read_bytes() == (ROOT / path).read_bytes()
    functions = re.findall(r"Handler: handlers/(\w+)\.handler", (folder / "template.yaml").read_text())
    assert {path.stem for path in (folder / "handlers").glob("*.py")} == {"__init__", *functions}
    assert "gofer[aws,files,slack]==" in (folder / "pyproject.toml").read_text()
    assert "\nboto3==" in (folder / "requirements.lock").read_text()


@pytest.mark.parametrize("aws", [False, True])
def test_workflows_of_the_pipeline_pass_the_linter(tmp_path: Path, *, aws: bool) -> None:
    write_repository(Asked(tmp_path / "acme", STARTERS, aws=aws))
    zizmor = Path(sys.executable).with_name("zizmor")
    pipelines = str(tmp_path / "acme" / ".github" / "workflows")
    subprocess.run([str(zizmor), "--offline", "--no-progress", pipelines], check=True)
